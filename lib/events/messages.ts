/**
 * Operation that a statement is a part of. A `lock` reads a record that a write is about to change; it locks the record
 * only if the write runs in a transaction. A `reference` looks for the record that a write refers to, a `login` for a
 * user. A `hook` is a statement of `afterWrite`. A `commit` ends a transaction. `other` are statements without a label,
 * such as questions about a write that failed.
 */
export type StatementOperation =
  'list' | 'count' | 'read' | 'create' | 'update' | 'delete' | 'lock' | 'reference' | 'login' | 'hook' | 'commit' |
  'other'

/**
 * Operation and resource of a statement. `resource` is the name of the resource, with these exceptions:
 *
 * - `login`: the name of the model of users.
 * - `reference`: the name of the table that the foreign key refers to. If one statement checks all foreign keys of a
 *   write, it is the name of the written resource.
 * - `commit` and `other`: null.
 */
export interface StatementLabel {
  readonly operation: StatementOperation
  readonly resource: string | null
}

/** A statement that has ended. */
export interface StatementMessage extends StatementLabel {
  /** `failed` includes a statement that a rule of the database refused. */
  readonly outcome: 'done' | 'failed'
  /** Code of the failure: one of the driver, or of the plugin, such as `NO_ANSWER`; null if there is none. */
  readonly code: string | null
  /** Milliseconds until the answer came, including the wait for a connection. */
  readonly duration: number
  /** Number of rows that the statement returned or, if it returned none, changed; 0 if it failed. */
  readonly rows: number
}

/** A statement or transaction that was repeated, and has ended. */
export interface RetryMessage extends StatementLabel {
  readonly outcome: 'done' | 'failed'
  /**
   * Code of the first failure that made the statement be repeated: one of the driver, or of the plugin, such as
   * `NO_ANSWER`; null if the failure has no code.
   */
  readonly code: string | null
  /** Number of attempts, including the first one. */
  readonly attempts: number
  /** Milliseconds since the first attempt began. */
  readonly duration: number
}

/** A change of the database server in use. */
export interface NodeMessage {
  /**
   * `left`: a connection to this server broke, gave no answer or was refused, or the server said that it cannot serve.
   * The next statement looks for a usable server, maybe the same one. `found`: this server is used from now on.
   * `none`: no server is usable.
   */
  readonly state: 'left' | 'found' | 'none'
  /** Host and port; null for `none`. */
  readonly node: string | null
  /** Host and port of the server that was used before, maybe the same; null for `left`, or if there was none. */
  readonly previous: string | null
  /** Reason: a code of the driver, or of the plugin, such as `NO_ANSWER`; null for `found`, or if there is none. */
  readonly code: string | null
  /**
   * Milliseconds since the last message `left`; about 0 in `left` itself. A `found` ends this period. Null in later
   * messages until the next `left`, and before the first one.
   */
  readonly duration: number | null
}

/**
 * A check of a password that has ended. A check that is answered from memory, or whose password is too long, has no
 * message.
 */
export interface LoginMessage {
  /**
   * `accepted`: the password was right. `refused`: it was wrong. `too-many`: it was not checked, because too many
   * checks were waiting. `failed`: the function `verify` of the application threw an error or took too long.
   */
  readonly outcome: 'accepted' | 'refused' | 'too-many' | 'failed'
  /** Milliseconds that the check took, including the wait for other checks. */
  readonly duration: number
}

/**
 * A request that has waited in a queue, or that was refused because the queue is full. If `queue` is `connections`, the
 * message is about a statement that found no free connection to the database in time.
 */
export interface QueueMessage {
  /**
   * Name of the queue. `connections` is the pool of connections to the database. All others are queues of requests:
   * `guarded` for operations that find out who the user is, `open` for the rest. On PostgreSQL and MariaDB, reads and
   * writes have separate queues, such as `open-reads`.
   */
  readonly queue:
    'open' | 'open-reads' | 'open-writes' | 'guarded' | 'guarded-reads' | 'guarded-writes' | 'connections'
  /**
   * `admitted`: the request may run. `full`: too many others wait, so the request is refused with 503. `late`: the
   * request or statement has waited for more than 2 seconds. A request is then refused with 503, and a statement may be
   * repeated. `gone`: the client has closed its connection.
   */
  readonly outcome: 'admitted' | 'full' | 'late' | 'gone'
  /** Milliseconds that the request or statement has waited. */
  readonly duration: number
  /** Number of other requests or statements that still wait. */
  readonly waiting: number
}

/** Writes that were committed together, on SQLite. */
export interface GroupCommitMessage {
  /** Number of writes in the group, including those that failed. */
  readonly writes: number
  /** Milliseconds for all of the writes, including the commit. */
  readonly duration: number
}

/** Messages by the channel of `node:diagnostics_channel` that carries them. No message holds values. */
export interface DiagnosticsMessages {
  readonly 'fastify-rest-models:statement': StatementMessage
  readonly 'fastify-rest-models:retry': RetryMessage
  readonly 'fastify-rest-models:node': NodeMessage
  readonly 'fastify-rest-models:login': LoginMessage
  readonly 'fastify-rest-models:queue': QueueMessage
  readonly 'fastify-rest-models:group-commit': GroupCommitMessage
}
