import { createError } from '@fastify/error'

/** What is wrong with one parameter or body field. `field` is the name as the client wrote it, or the key. */
export interface FieldFault {
  readonly field: string
  readonly message: string
}

const deployerError = <Code extends string>(code: Code) =>
  createError<`REST_MODELS_${Code}`, 500, [message: string]>(`REST_MODELS_${code}`, '%s', 500)

/** UTF-16 units of a name that an answer and the log repeat: a client may send one of a megabyte. */
const maxNameLength = 100

/** A name as it is repeated to the client that wrote it. */
export function shownName (name: string): string {
  // The first half of a surrogate pair would stand alone.
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength).replace(/[\ud800-\udbff]$/, '')}…` : name
}

const worded = <Code extends string, Status extends number>(code: Code, message: string, status: Status) =>
  createError<`REST_MODELS_${Code}`, Status, [words: string]>(`REST_MODELS_${code}`, message, status)

/** An error that repeats a name as a client wrote it. */
const named = <Code extends string, Status extends number>(code: Code, message: string, status: Status) =>
  class FastifyError extends worded(code, message, status) {
    constructor (name: string) {
      super(shownName(name))
    }
  }

const unnamed = <Code extends string, Status extends number>(code: Code, message: string, status: Status) =>
  createError<`REST_MODELS_${Code}`, Status, [options?: { cause: unknown }]>(`REST_MODELS_${code}`, message, status)

/** Thrown at start-up; they never reach a client. */
const startUpErrors = {
  InvalidOptions: deployerError('INVALID_OPTIONS'),
  InvalidModel: deployerError('INVALID_MODEL'),
  UnknownOptionField: deployerError('UNKNOWN_OPTION_FIELD'),
  DuplicateResource: deployerError('DUPLICATE_RESOURCE'),
  NotSetUp: deployerError('NOT_SET_UP'),
  AlreadySetUp: deployerError('ALREADY_SET_UP'),
  TableMismatch: deployerError('TABLE_MISMATCH'),
  UnsupportedDatabase: deployerError('UNSUPPORTED_DATABASE')
} as const

/** What a request can end in. A message names a parameter or a field, never a value, SQL, a path or a stack. */
const requestErrors = {
  InvalidQuery: unnamed('INVALID_QUERY', 'The query string or form is not valid percent-encoded UTF-8', 400),
  UnknownParameter: named('UNKNOWN_PARAMETER', "Unknown parameter '%s'", 400),
  UnknownOperator: named('UNKNOWN_OPERATOR', "Unknown operator in '%s'", 400),
  InvalidValue: named('INVALID_VALUE', "Invalid value for '%s'", 400),
  InvalidPage: named('INVALID_PAGE', "Invalid '%s'", 400),
  InvalidOrdering: named('INVALID_ORDERING', "Invalid '%s'", 400),
  TooMuch: named('TOO_MUCH', "'%s' asks for more than is permitted", 400),
  InvalidBody: worded('INVALID_BODY', 'The body must be %s', 400),
  InvalidRecord: worded('INVALID_RECORD', 'Invalid %s', 400),
  UnknownReference: named('UNKNOWN_REFERENCE', "'%s' refers to a record that does not exist", 400),
  AuthenticationFailed: unnamed('AUTHENTICATION_FAILED', 'Authentication failed', 401),
  Forbidden: unnamed('FORBIDDEN', 'This request is not permitted', 403),
  RecordNotFound: unnamed('RECORD_NOT_FOUND', 'No such record', 404),
  MethodNotAllowed: unnamed('METHOD_NOT_ALLOWED', 'This method is not allowed here', 405),
  NotUnique: worded('NOT_UNIQUE', 'Another record has the same %s', 409),
  StillReferenced: unnamed('STILL_REFERENCED', 'Other records refer to this one', 409),
  Constraint: unnamed('CONSTRAINT', 'A rule of the database refuses this change', 409),
  QueryTooLong: unnamed('QUERY_TOO_LONG', 'The query string is too long', 414),
  MisdirectedRequest: unnamed('MISDIRECTED_REQUEST', 'This server is not called so', 421),
  TooManyLogins: unnamed('TOO_MANY_LOGINS', 'Too many logins at once', 429),
  Internal: createError<'REST_MODELS_INTERNAL', 500, [requestId: string, options: { cause: unknown }]>(
    'REST_MODELS_INTERNAL', 'Internal error in request %s', 500),
  Unavailable: unnamed('UNAVAILABLE', 'The database cannot do this now', 503)
} as const

/** Every error of the plugin: code, message, status. */
export const errors = { ...startUpErrors, ...requestErrors } as const

/** The codes of the errors that a client may meet. */
export type ErrorCode = (typeof requestErrors)[keyof typeof requestErrors]['prototype']['code']

/** The same error, with the faulty fields listed in its answer. */
export function withDetails<E extends Error> (error: E, details: readonly FieldFault[]): E {
  return Object.assign(error, { details: details.map(({ field, message }) => ({ field: shownName(field), message })) })
}

/** The same error, telling the client to try again after `seconds`. */
export function withRetryAfter<E extends Error> (error: E, seconds: number): E {
  return Object.assign(error, { headers: { 'retry-after': String(seconds) } })
}
