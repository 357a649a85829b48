import type { NamedStatement } from '../server/statement-names.js'
import { prepareValue, type Callback, type DriverClient, type InnerConnection } from './driver.js'

/** Columns of the rows of a statement, in their order. */
interface Columns {
  readonly names: readonly string[]
  /** Each makes a value of the text that the server sends. */
  readonly parsers: ReadonlyArray<(text: string) => unknown>
  /** A row of nulls, to be copied. */
  readonly empty: Readonly<Record<string, unknown>>
}

/** Commands that change rows. Kysely asks for the rows of no other command how many there were. */
const commands = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'] as const
const none: Columns = { names: [], parsers: [], empty: {} }

/** Columns of the prepared statements of each connection without a pooler, by the names of the statements. */
const described = new WeakMap<InnerConnection, Map<string, Columns>>()

/**
 * Has prepared statements described once from now on. Only for a connection to the server itself: it refuses a prepared
 * statement whose columns are others than before. A pooler may give the connection another server process, which
 * prepares the statement anew.
 */
export function describeOnce ({ connection }: DriverClient): void {
  described.set(connection, new Map())
}

/**
 * One use of a prepared statement. The driver's own queries have the server describe the columns at each use, which
 * takes 11 of 61 µs. This one does so at the first use, after {@link describeOnce}.
 *
 * The driver calls the methods. `text`, `values` and `rowMode` are for programs that observe the driver.
 *
 * @see https://www.postgresql.org/docs/15/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class PreparedQuery<R> {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly rowMode: 'array' | undefined
  /** Set by the driver. */
  callback: Callback<R> | undefined
  readonly #client: DriverClient
  readonly #rows: R[] = []
  #columns = none
  #completion = ''
  #failure: Error | undefined

  constructor (
    client: DriverClient, { name, text }: NamedStatement, values: readonly unknown[], rowMode?: 'array'
  ) {
    this.#client = client
    this.name = name
    this.text = text
    this.values = values.map((value) => prepareValue(value))
    this.rowMode = rowMode
  }

  /** Sends the statement. The messages leave together. */
  submit (connection: InnerConnection): void {
    const { name, text, values } = this
    const isPrepared = connection.parsedStatements[name] !== undefined
    const known = described.get(connection)
    if (!isPrepared) known?.delete(name)
    const columns = known?.get(name)
    connection.stream.cork()
    if (!isPrepared) connection.parse({ name, text })
    connection.bind({ statement: name, values })
    if (columns === undefined) connection.describe({ type: 'P' })
    else this.#columns = columns
    connection.execute({})
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription ({ fields }: { readonly fields: ReadonlyArray<{ name: string, dataTypeID: number }> }): void {
    const names = fields.map(({ name }) => name)
    const parsers = fields.map(({ dataTypeID }) => this.#client.getTypeParser(dataTypeID))
    this.#columns = { names, parsers, empty: Object.fromEntries(names.map((name) => [name, null])) }
  }

  handleDataRow ({ fields }: { readonly fields: ReadonlyArray<string | null> }): void {
    if (this.#failure !== undefined) return
    try {
      const values = fields.map((text, index) => text === null ? null : this.#columns.parsers[index]?.(text))
      this.#rows.push((this.rowMode === 'array' ? values : toObject(this.#columns, values)) as R)
    } catch (error) {
      // Thrown here, it would end the process.
      this.#failure = error instanceof Error ? error : new TypeError('A value of the answer cannot be read')
    }
  }

  handleCommandComplete ({ text }: { readonly text: string }, connection: InnerConnection): void {
    this.#completion = text
    described.get(connection)?.set(this.name, this.#columns)
  }

  handleReadyForQuery (): void {
    if (this.#failure !== undefined) return this.handleError(this.#failure)
    const text = this.#completion
    const command = commands.find((name) => text.startsWith(name)) ?? 'SELECT'
    this.callback?.(null, { command, rowCount: Number(text.slice(text.lastIndexOf(' ') + 1)), rows: this.#rows })
  }

  handleError (error: Error): void {
    this.callback?.(error, undefined)
  }
}

function toObject ({ names, empty }: Columns, values: readonly unknown[]): object {
  const row: Record<string, unknown> = { ...empty }
  for (const [index, name] of names.entries()) row[name] = values[index]
  return row
}

/** Closes a prepared statement. The message travels ahead of the next statement, so that nobody waits for it. */
export function unprepare ({ connection }: DriverClient, name: string): void {
  connection.close({ type: 'S', name }, true)
  delete connection.parsedStatements[name]
  described.get(connection)?.delete(name)
}
