import { writes, type Operation } from '../policy/operations.js'
import type { Resource } from '../resource/resource.js'
import type { Failure } from './failures.js'
import { fixableBy } from '../policy/scope-fields.js'

/** Documentation of an operation that is the same for all resources. */
interface OperationText {
  summary (name: string): string
  readonly description: string
  /** Failures that are possible once the policy permits the operation, in addition to those of every operation. */
  readonly failures: readonly Failure[]
  /** Meaning of the answer if the operation succeeds. */
  readonly success: string
  /** Headers of the answer if the operation succeeds. */
  readonly headers?: Readonly<Record<string, object>>
}

const location = { Location: { type: 'string', description: 'Path of the new record' } }

/** Documentation of each of the five operations, such as its summary. */
export const operationTexts: Readonly<Record<Operation, OperationText>> = {
  list: {
    summary: (name) => `List records of ${name}`,
    description: 'To filter, give fields as parameters: `<name>=<value>`, `<name>__<operator>=<value>`, or ' +
      '`<foreign key>__<name>=<value>` for a field of the record that is referred to. ' +
      'Different filters must all match; one that is given several times matches any of its values ' +
      '(`ne`: none of them). `<name>__eq` is the same as `<name>`, and a foreign key `<name>` ' +
      'may also be written `<name>_id`.',
    failures: ['InvalidListQuery', 'QueryTooLong', 'Unavailable'],
    success: 'A page of records'
  },
  create: {
    summary: (name) => `Create a record of ${name}`,
    description: 'What is left out gets its default.',
    failures: ['InvalidBody', 'Conflict', 'QueryTooLong', 'WriteUnavailable'],
    success: 'The new record',
    headers: location
  },
  read: {
    summary: (name) => `Read a record of ${name}`,
    description: 'One record, without an envelope.',
    failures: ['InvalidQuery', 'RecordNotFound', 'QueryTooLong', 'Unavailable'],
    success: 'The record'
  },
  update: {
    summary: (name) => `Change a record of ${name}`,
    description: 'What is left out is kept.',
    failures: ['InvalidUpdate', 'RecordNotFound', 'Conflict', 'QueryTooLong', 'WriteUnavailable'],
    success: 'The whole record after the change'
  },
  delete: {
    summary: (name) => `Delete a record of ${name}`,
    description: 'Records that others refer to may be kept.',
    failures: ['InvalidDelete', 'RecordNotFound', 'StillReferenced', 'QueryTooLong', 'WriteUnavailable'],
    success: 'The record is deleted'
  }
}

/** Returns the sentences that a resource adds to the description of an operation. */
export function remarksOf (
  operation: Operation, resource: Resource
): string[] {
  const { owner, name, excluded, limits, scopeRule } = resource
  return [
    ...(operation === 'list'
      ? [`At most ${limits.filters} filters, and ${limits.totalJoins} different joins for these and \`include\`, ` +
        `in a query of ${limits.queryLength} characters.`]
      : []),
    ...(writes.includes(operation) && owner !== undefined
      ? [ownerRemark(operation, name, excluded.has(owner) ? 'the owner' : `\`${owner.key}\``)]
      : []),
    ...(scopeRule === undefined ? [] : scopeRemarks(operation, resource))
  ]
}

function scopeRemarks (operation: Operation, resource: Resource): string[] {
  if (operation !== 'create') return ['Records that the user may not see are answered like missing ones.']
  const excluded = new Set([...resource.excluded].map(({ key }) => key))
  const fixable = [...fixableBy(resource)].filter((key) => !excluded.has(key)).map((key) => `\`${key}\``).join(', ')
  return [
    'The record must be one that the user may see.',
    ...(fixable === '' ? [] : [`Where this decides the value of a field, the server sets it: ${fixable}.`])
  ]
}

function ownerRemark (operation: Operation, name: string, owner: string): string {
  return operation === 'create'
    ? `The record belongs to whoever creates it: ${owner} is set by the server.`
    : `Only the owner of a record of ${name} may do this.`
}
