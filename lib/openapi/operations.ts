import type { Operation } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import type { Failure } from './failures.js'

/** Documentation of an operation that is the same for all resources. */
interface OperationRow {
  summary (name: string): string
  readonly description: string
  /** Failures that are possible once it is permitted, in addition to those of every operation. */
  readonly failures: readonly Failure[]
  /** Status, meaning and body of the answer if it succeeds. */
  readonly success: {
    readonly status: number
    readonly description: string
    readonly body?: 'record' | 'list'
    readonly headers?: Readonly<Record<string, object>>
  }
  /** The body that it takes. */
  readonly takes?: 'create' | 'update'
}

const location = { Location: { type: 'string', description: 'Path of the new record' } }

/** The five operations. */
export const operationTable: Readonly<Record<Operation, OperationRow>> = {
  list: {
    summary: (name) => `List records of ${name}`,
    description: 'Different filters must all match; one that is given several times matches any of its values ' +
      '(`ne`: none of them). `<name>__eq` is the same as `<name>`, and a foreign key `<name>` ' +
      'may also be written `<name>_id`.',
    failures: ['InvalidListQuery', 'QueryTooLong', 'Unavailable'],
    success: { status: 200, description: 'A page of records', body: 'list' }
  },
  create: {
    summary: (name) => `Create a record of ${name}`,
    description: 'What is left out gets its default.',
    failures: ['InvalidBody', 'Conflict', 'QueryTooLong', 'Unavailable'],
    success: { status: 201, description: 'The new record', body: 'record', headers: location },
    takes: 'create'
  },
  read: {
    summary: (name) => `Read a record of ${name}`,
    description: 'One record, without an envelope.',
    failures: ['InvalidQuery', 'RecordNotFound', 'QueryTooLong', 'Unavailable'],
    success: { status: 200, description: 'The record', body: 'record' }
  },
  update: {
    summary: (name) => `Change a record of ${name}`,
    description: 'What is left out is kept.',
    failures: ['InvalidBody', 'RecordNotFound', 'Conflict', 'QueryTooLong', 'Unavailable'],
    success: { status: 200, description: 'The whole record after the change', body: 'record' },
    takes: 'update'
  },
  delete: {
    summary: (name) => `Delete a record of ${name}`,
    description: 'Records that others refer to may be kept.',
    failures: ['InvalidQuery', 'RecordNotFound', 'StillReferenced', 'QueryTooLong', 'Unavailable'],
    success: { status: 204, description: 'The record is deleted' }
  }
}

/** Returns the sentences that a resource adds to the description of an operation. */
export function remarksOf (
  operation: Operation, { registration: { policy, owner, name, excluded }, list: { limits } }: Resource
): string[] {
  const isWrite = operationTable[operation].takes !== undefined || operation === 'delete'
  return [
    ...(operation === 'list'
      ? [`At most ${limits.filters} filters through ${limits.totalJoins} different joins, ` +
        `in a query of ${limits.queryLength} characters.`]
      : []),
    ...(policy.closed?.includes(operation) ? ['Nobody may do this.'] : []),
    ...(isWrite && owner !== undefined
      ? [ownerRemark(operation, name, excluded.has(owner) ? 'the owner' : `\`${owner.key}\``)]
      : [])
  ]
}

function ownerRemark (operation: Operation, name: string, owner: string): string {
  return operation === 'create'
    ? `The record belongs to whoever creates it: ${owner} is set by the server.`
    : `Only the owner of a record of ${name} may do this.`
}
