import { shareParameter, shareResponse, type OpenApiDocument, type WrittenOperation } from './document.js'
import { failures } from './failures.js'

/** Names of the responses that all resources share, by their descriptions. */
const sharedResponses = new Map<string, string>(
  Object.entries<{ readonly description: string }>(failures).map(([name, { description }]) => [description, name])
)
/** Names of the parameters that all resources share, by their place and name, such as `query limit`. */
const sharedParameters: Readonly<Record<string, string>> = {
  'path id': 'Key',
  'query limit': 'Limit',
  'query page': 'Page',
  'query after': 'After',
  'query count': 'Count',
  'header If-Match': 'IfMatch',
  'header If-None-Match': 'IfNoneMatch'
}

/**
 * Moves parameters and responses that all resources share from the operations with the given ids to the components.
 * Written out in each operation, they would be most of the document.
 */
export function shareParts (document: OpenApiDocument, operationIds: ReadonlySet<string>): void {
  for (const methods of Object.values(document.paths)) {
    for (const operation of Object.values(methods)) {
      if (operationIds.has(String(operation.operationId))) shareOf(document, operation)
    }
  }
}

/**
 * Properties of a query parameter whose items are separated by commas. `@fastify/swagger` cannot set them for one
 * parameter alone.
 */
const commaSeparated = { style: 'form', explode: false }

function shareOf (document: OpenApiDocument, operation: WrittenOperation): void {
  const { parameters, responses = {} } = operation
  if (parameters !== undefined) {
    operation.parameters = parameters.map(({ required, ...parameter }) => {
      const isList = parameter.schema?.type === 'array'
      const written = { ...parameter, ...(required && { required }), ...(isList && commaSeparated) }
      const name = sharedParameters[`${String(parameter.in)} ${String(parameter.name)}`]
      return name === undefined ? written : shareParameter(document, name, written)
    })
  }
  for (const [status, response] of Object.entries(responses)) {
    const name = sharedResponses.get(String(response.description))
    if (name !== undefined) responses[status] = shareResponse(document, name, response)
  }
}
