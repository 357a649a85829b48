import { keysOf } from '../values/lookup.js'

/** The requests of an operation, and the body of its answer. */
interface OperationRow {
  /**
   * Methods of the requests. All of them do the same: PUT, too, keeps the fields that the body leaves out. The typed
   * client sends the first.
   */
  readonly methods: readonly ['GET'] | readonly ['POST'] | readonly ['PUT', 'PATCH'] | readonly ['DELETE']
  /** Path below the prefix: that of the list, or that of one record. */
  readonly path: 'list' | 'record'
  /** Status of the answer if the operation succeeds. */
  readonly status: number
  /** The schema of the request's body; absent if the operation takes no body. */
  readonly takes?: 'create' | 'update'
  /** The form of the answer's body, a page or a record; absent if the answer has no body. */
  readonly answers?: 'list' | 'record'
}

/**
 * The five operations. Routes and documentation are made from this table.
 *
 * @see service document, "Endpoints"
 */
export const operationTable = {
  list: { methods: ['GET'], path: 'list', status: 200, answers: 'list' },
  create: { methods: ['POST'], path: 'list', status: 201, takes: 'create', answers: 'record' },
  read: { methods: ['GET'], path: 'record', status: 200, answers: 'record' },
  update: { methods: ['PUT', 'PATCH'], path: 'record', status: 200, takes: 'update', answers: 'record' },
  delete: { methods: ['DELETE'], path: 'record', status: 204 }
} as const satisfies Record<string, OperationRow>

/** Operation of a client on a resource. HEAD counts as the GET that it stands for. */
export type Operation = keyof typeof operationTable

const names = keysOf(operationTable)

/** Operations that change nothing. */
export const reads: readonly Operation[] = names.filter((name) => operationTable[name].methods[0] === 'GET')

/** Operations that change something. */
export const writes: readonly Operation[] = names.filter((name) => !reads.includes(name))

export const operations: readonly Operation[] = [...reads, ...writes]

/** Returns an operation's row of {@link operationTable}. */
export function rowOf (operation: Operation): OperationRow {
  return operationTable[operation]
}
