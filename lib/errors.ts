import { createError } from '@fastify/error'

/**
 * A fault in one query parameter or in one field of a body. `field` is the name that the client wrote. If the field is
 * missing, or the database refuses its value, `field` is the key that the field has in records. If a hook of the app
 * reports the fault, `field` is the name that the hook gave.
 */
export interface FieldFault {
  readonly field: string
  readonly message: string
}

/** Returns the faults of an object's properties; an empty list if there are none. */
export type Check = (values: object) => readonly FieldFault[]

const deployerError = <Code extends string>(code: Code) =>
  createError<`REST_MODELS_${Code}`, 500, [message: string]>(`REST_MODELS_${code}`, '%s', 500)

/**
 * UTF-16 units to which a name from a client is cut in answers and in the log. A client may send a name of a megabyte.
 */
const maxNameLength = 100

/** Returns a name from a client as answers repeat it: cut to 100 UTF-16 units, with `…` after it if it was longer. */
export function shownName (name: string): string {
  // The cut may split a surrogate pair, and half a pair is not valid text.
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength).replace(/[\ud800-\udbff]$/, '')}…` : name
}

const messageError = <Code extends string, Status extends number>(code: Code, message: string, status: Status) =>
  createError<`REST_MODELS_${Code}`, Status, [words: string]>(`REST_MODELS_${code}`, message, status)

/** Makes an error class whose message repeats a name as {@link shownName} shows it. */
const nameError = <Code extends string, Status extends number>(code: Code, message: string, status: Status) =>
  class FastifyError extends messageError(code, message, status) {
    constructor (name: string) {
      super(shownName(name))
    }
  }

/**
 * Makes an error class whose message is always the same. `hasStack` is false for errors that clients can cause as often
 * as they like: their stack traces would fill the log.
 */
const plainError = <Code extends string, Status extends number>(
  code: Code, message: string, status: Status, hasStack = true
) => createError<`REST_MODELS_${Code}`, Status, [options?: { cause: unknown }]>(
  `REST_MODELS_${code}`, message, status, Error, hasStack)

const withoutStack = false

/** Errors of the deployer, mostly thrown at start-up. A client never gets them: in a request they become a 500. */
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

/**
 * Errors with which a request can end. A message names a parameter or a field, never a value, SQL, a path or a stack.
 */
const requestErrors = {
  InvalidQuery: plainError('INVALID_QUERY', 'The query string or form is not valid percent-encoded UTF-8', 400),
  UnknownParameter: nameError('UNKNOWN_PARAMETER', "Unknown parameter '%s'", 400),
  UnknownOperator: nameError('UNKNOWN_OPERATOR', "Unknown operator in '%s'", 400),
  InvalidValue: nameError('INVALID_VALUE', "Invalid value for '%s'", 400),
  InvalidPage: nameError('INVALID_PAGE', "Invalid '%s'", 400),
  InvalidOrdering: nameError('INVALID_ORDERING', "Invalid '%s'", 400),
  InvalidInclude: nameError('INVALID_INCLUDE', "Invalid '%s'", 400),
  TooMuch: nameError('TOO_MUCH', "'%s' asks for more than is permitted", 400),
  InvalidBody: messageError('INVALID_BODY', 'The body %s', 400),
  InvalidRecord: messageError('INVALID_RECORD', 'Invalid %s', 400),
  InvalidPrecondition: messageError('INVALID_PRECONDITION', "The header 'If-Match' %s", 400),
  UnknownReference: nameError('UNKNOWN_REFERENCE', "'%s' refers to a record that does not exist", 400),
  AuthenticationFailed: plainError('AUTHENTICATION_FAILED', 'Authentication failed', 401),
  Forbidden: plainError('FORBIDDEN', 'This request is not permitted', 403),
  RecordNotFound: plainError('RECORD_NOT_FOUND', 'No such record', 404),
  MethodNotAllowed: plainError('METHOD_NOT_ALLOWED', 'This method is not allowed here', 405),
  NotUnique: messageError('NOT_UNIQUE', 'Another record has the same %s', 409),
  StillReferenced: plainError('STILL_REFERENCED', 'Other records refer to this one', 409),
  Constraint: plainError('CONSTRAINT', 'A rule of the database refuses this change', 409),
  PreconditionFailed: plainError(
    'PRECONDITION_FAILED', 'The record is not as the request expects: read it again and repeat the change', 412),
  QueryTooLong: plainError('QUERY_TOO_LONG', 'The query string is too long', 414),
  MisdirectedRequest: plainError(
    'MISDIRECTED_REQUEST', 'Misdirected request: this server does not serve that host name', 421),
  TooManyLogins: plainError('TOO_MANY_LOGINS', 'Too many logins at once', 429, withoutStack),
  ClientGone: plainError('CLIENT_GONE', 'The client has closed its connection', 499, withoutStack),
  Internal: createError<'REST_MODELS_INTERNAL', 500, [requestId: string, options: { cause: unknown }]>(
    'REST_MODELS_INTERNAL', 'Internal error in request %s', 500),
  Unavailable: plainError('UNAVAILABLE', 'The database cannot do this now', 503, withoutStack),
  OutcomeUnknown: plainError(
    'OUTCOME_UNKNOWN', 'The database gave no answer: nobody knows whether this change was made', 503)
} as const

/** All errors of the plugin, each with its code, message and status. */
export const errors = { ...startUpErrors, ...requestErrors } as const

/** True for an error that only the deployer may see: a wrong option, model or table. */
export function isDeployerError (error: unknown): boolean {
  return Object.values(startUpErrors).some((DeployerError) => error instanceof DeployerError)
}

/** The plugin's codes of errors that a client may receive. Errors of Fastify and of hooks have other codes. */
export type ErrorCode = (typeof requestErrors)[keyof typeof requestErrors]['prototype']['code']

/** Returns the message of a thrown error. JavaScript can throw any value; one that is no error is returned as text. */
export function messageOf (thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Adds the faulty fields to an error, so that the answer to the client lists them, and returns the same error. */
export function withDetails<E extends Error> (error: E, details: readonly FieldFault[]): E {
  return Object.assign(error, { details: details.map(({ field, message }) => ({ field: shownName(field), message })) })
}

/** Returns an error about one parameter or field, with that field in its details. */
export function fieldError<E extends Error> (Fault: new (name: string) => E, field: string, message: string): E {
  return withDetails(new Fault(field), [{ field, message }])
}

/**
 * Returns REST_MODELS_INVALID_RECORD (400) for a hook to throw: `invalidRecord({ title: 'must not contain links' })`.
 *
 * @param faults  what is wrong with each field, by the key that the field has in records
 * @throws TypeError if `faults` is not an object with at least one field, or a message is not a text
 */
export function invalidRecord (faults: Readonly<Record<string, string>>): Error {
  const details = Object.entries(Object(faults) as typeof faults).map(([field, message]) => ({ field, message }))
  const isRight = typeof faults === 'object' && !Array.isArray(faults) && details.length > 0 &&
    details.every(({ message }) => typeof message === 'string')
  if (!isRight) {
    // An `await` may be missing. Without this, the rejection of such a promise would end the process.
    for (const value of [faults, ...details.map(({ message }) => message)]) Promise.resolve(value).catch(() => {})
    throw new TypeError("invalidRecord() needs the fault of at least one field: { title: 'is too long' }")
  }
  return withDetails(new errors.InvalidRecord(details.map(({ field }) => `'${shownName(field)}'`).join(', ')), details)
}

/**
 * Adds a `Retry-After` header to an error, and returns the same error. The header asks the client to repeat the request
 * only after `seconds`.
 */
export function withRetryAfter<E extends Error> (error: E, seconds: number): E {
  return Object.assign(error, { headers: { 'retry-after': String(seconds) } })
}

/**
 * Returns REST_MODELS_UNAVAILABLE (503) with a Retry-After of 1 second, for a request that cannot be served now. This
 * error promises that the request has changed nothing. If a write may have been executed, use {@link outcomeUnknown}.
 */
export function unavailable (...options: ConstructorParameters<typeof errors.Unavailable>): Error {
  return withRetryAfter(new errors.Unavailable(...options), 1)
}

/**
 * Returns REST_MODELS_OUTCOME_UNKNOWN (503) with a Retry-After of 1 second, for a write that was sent to the database
 * and got no answer.
 */
export function outcomeUnknown (options: { cause: unknown }): Error {
  return withRetryAfter(new errors.OutcomeUnknown(options), 1)
}
