import { STATUS_CODES } from 'node:http'
import { plain, type JsonSchema } from '../../schemas/documentation.js'
import { errorSchema } from '../../schemas/error.js'
import { errors, fieldError, withDetails, type FieldFault } from '../errors.js'

/** A kind of failure: its status, its meaning, and the errors that report it. */
interface FailureRow {
  readonly status: number
  readonly description: string
  /**
   * One error for each code that this library raises for the failure. The document lists all these codes, and shows the
   * first error as the example. Empty if only Fastify itself raises such errors.
   */
  readonly examples: ReadonlyArray<Error & { readonly code: string, readonly details?: readonly FieldFault[] }>
  /** Codes of errors that Fastify itself raises with this status, and not this library. */
  readonly foreign?: readonly string[]
  readonly headers?: Readonly<Record<string, JsonSchema>>
}

const retryAfter = {
  'Retry-After': { type: 'integer', minimum: 0, description: 'Seconds to wait before another attempt' }
}
type Example = FailureRow['examples'][number]

const unknownParameter: Example =
  fieldError(errors.UnknownParameter, 'colour', 'is not a parameter of this resource')
const invalidRecord: Example = withDetails(
  new errors.InvalidRecord("'id'"), [{ field: 'id', message: 'is set by the server' }])
const invalidBodies: readonly Example[] = [
  invalidRecord, new errors.InvalidBody('must be one JSON object'), new errors.UnknownReference('user_id'),
  new errors.UnknownParameter('colour'), new errors.InvalidQuery()]
const invalidPrecondition: Example = new errors.InvalidPrecondition('is not supported by this resource')

/** Every kind of error answer, by the name of its schema. */
export const failures = {
  InvalidListQuery: {
    status: 400,
    description: 'A parameter does not exist, or its value is wrong or asks for too much',
    examples: [
      unknownParameter, new errors.UnknownOperator('id__near'), new errors.InvalidValue('id'),
      new errors.InvalidPage('page'), new errors.InvalidOrdering('ordering'), new errors.InvalidInclude('include'),
      new errors.TooMuch('id__in'), new errors.InvalidQuery()
    ]
  },
  InvalidQuery: {
    status: 400,
    description: 'There is another parameter than `include`, or it names what is not there or asks for too much',
    examples: [
      new errors.InvalidInclude('include'), unknownParameter, new errors.TooMuch('include'), new errors.InvalidQuery()
    ],
    foreign: ['FST_ERR_BAD_URL', 'FST_ERR_CTP_INVALID_CONTENT_LENGTH']
  },
  InvalidBody: {
    status: 400,
    description: 'The body is not one JSON object, or fields of it are wrong, missing or unknown',
    examples: invalidBodies,
    foreign: ['FST_ERR_BAD_URL', 'FST_ERR_CTP_INVALID_CONTENT_LENGTH']
  },
  InvalidUpdate: {
    status: 400,
    description: 'The body or the header `If-Match` is wrong',
    examples: [...invalidBodies, invalidPrecondition],
    foreign: ['FST_ERR_BAD_URL', 'FST_ERR_CTP_INVALID_CONTENT_LENGTH']
  },
  InvalidDelete: {
    status: 400,
    description: 'There are parameters, of which this operation has none, or the header `If-Match` is wrong',
    examples: [unknownParameter, new errors.InvalidQuery(), invalidPrecondition],
    foreign: ['FST_ERR_BAD_URL', 'FST_ERR_CTP_INVALID_CONTENT_LENGTH']
  },
  AuthenticationFailed: {
    status: 401,
    description: 'There are no credentials, they are wrong, or nobody may do this',
    examples: [new errors.AuthenticationFailed()]
  },
  Forbidden: {
    status: 403,
    description: 'Whoever asks may not do this, or a browser sends it for a page of another site',
    examples: [new errors.Forbidden()]
  },
  RecordNotFound: { status: 404, description: 'There is no such record', examples: [new errors.RecordNotFound()] },
  Conflict: {
    status: 409,
    description: 'A value that must be unique is taken, or another rule of the database refuses the change',
    examples: [new errors.NotUnique('name'), new errors.Constraint()]
  },
  StillReferenced: {
    status: 409,
    description: 'Other records refer to this one, or another rule of the database refuses the change',
    examples: [new errors.StillReferenced(), new errors.Constraint()]
  },
  PreconditionFailed: {
    status: 412,
    description: 'The record has another `ETag` than those of `If-Match`: it has changed since it was read',
    examples: [new errors.PreconditionFailed()]
  },
  BodyTooLarge: {
    status: 413,
    description: 'The body is larger than the server takes',
    examples: [],
    foreign: ['FST_ERR_CTP_BODY_TOO_LARGE']
  },
  QueryTooLong: {
    status: 414,
    description: 'The query string or the path is too long',
    examples: [new errors.QueryTooLong()],
    foreign: ['FST_ERR_MAX_PARAM_LENGTH']
  },
  InvalidContentType: {
    status: 415,
    description: 'The content type is malformed',
    examples: [],
    foreign: ['FST_ERR_CTP_INVALID_MEDIA_TYPE']
  },
  TooManyLogins: {
    status: 429,
    description: 'Too many passwords are waiting to be checked',
    examples: [new errors.TooManyLogins()],
    headers: retryAfter
  },
  InternalError: {
    status: 500,
    description: 'A bug; the log has its cause',
    examples: [new errors.Internal('req-1', { cause: undefined })],
    foreign: ['FST_ERR_SEND_UNDEFINED_ERR']
  },
  Unavailable: {
    status: 503,
    description: 'The database cannot do this now, or it takes too long',
    examples: [new errors.Unavailable()],
    headers: retryAfter
  },
  WriteUnavailable: {
    status: 503,
    description: 'The database cannot do this now, or gives no answer: the code tells if the change may be made',
    examples: [new errors.Unavailable(), new errors.OutcomeUnknown()],
    headers: retryAfter
  }
} as const satisfies Record<string, FailureRow>

export type Failure = keyof typeof failures

/** The schema that all failures share, and its name: Fastify's own shape of errors, plus `details`. */
export const failureBase = { name: 'Error', schema: plain(errorSchema) }

/** Returns the schema of the body of a failure, with the codes that the body may have. */
export function failureSchema (name: Failure, base: JsonSchema): JsonSchema {
  const { status, examples, foreign = [] }: FailureRow = failures[name]
  const [example] = examples
  return plain({
    allOf: [base],
    properties: { statusCode: { enum: [status] }, code: { enum: [...examples.map(({ code }) => code), ...foreign] } },
    required: ['code'],
    examples: example && [{
      statusCode: status,
      code: example.code,
      error: STATUS_CODES[status],
      message: example.message,
      details: example.details
    }]
  })
}

/** Returns an error answer as a Response Object of OpenAPI. */
export function failureResponse (name: Failure, ref: JsonSchema): JsonSchema {
  const { description, headers }: FailureRow = failures[name]
  return { description, ...(headers && { headers }), content: { 'application/json': { schema: ref } } }
}
