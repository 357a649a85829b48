import { isExpression, sql, type Expression, type Kysely, type RawBuilder, type SchemaModule } from 'kysely'
import type { Tables } from '../../engines/executor.js'
import type { MigrationTarget } from '../../tables/write-steps.js'
import { literal } from '../introspect/source-text.js'

/** Characters of the longest call chain that stays on one line. */
const maxLineLength = 100

/** Property of a recording builder that holds the calls of its methods, as JavaScript. */
const kCalls = Symbol('calls')

interface Recorded {
  readonly [kCalls]: readonly string[]
}

/**
 * Records the steps of a migration as lines of JavaScript, instead of running them. Its `schema` takes the calls that
 * createTables() makes, so the written migration makes the same tables.
 */
export class SchemaRecorder implements MigrationTarget {
  /** Statements, each of one or several lines. */
  readonly statements: string[] = []
  readonly schema: SchemaModule
  /** True if a statement calls `requireEmpty`, a function that the written module must then define. */
  checksRows = false
  readonly #db: Kysely<Tables>
  readonly #isTyped: boolean

  /** @param isTyped  true if the statements are TypeScript */
  constructor (db: Kysely<Tables>, isTyped = false) {
    this.#db = db
    this.#isTyped = isTyped
    this.schema = this.#record(db.schema, [])
  }

  run (statement: RawBuilder<unknown>): void {
    this.statements.push(`await ${this.#writeSql(statement)}.execute(db)`)
  }

  comment (text: string): void {
    this.statements.push(`// ${text}`)
  }

  requireEmpty (table: string, column: string): void {
    this.checksRows = true
    this.statements.push(`await requireEmpty(db, ${literal(table)}, ${literal(column)})`)
  }

  /**
   * Returns a builder that has recorded `calls`. Each of its methods returns another recording builder, with one call
   * more. Only `execute` is different: it adds the recorded calls to `statements` as one statement, and returns a
   * promise.
   */
  #record<Builder extends object> (builder: Builder, calls: readonly string[]): Builder {
    return new Proxy(builder, {
      get: (_builder, method) => method === kCalls
        ? calls
        : (...values: readonly unknown[]) => {
            const call = `${String(method)}(${this.#writeArguments(String(method), values)})`
            if (method !== 'execute') return this.#record({}, [...calls, call])
            this.statements.push(joined([...calls, call]))
            return Promise.resolve()
          }
    })
  }

  #writeArguments (method: string, values: readonly unknown[]): string {
    const [first] = values
    // In TypeScript, a condition needs the type of its value.
    if (this.#isTyped && method === 'where' && isExpression(first)) return this.#writeSql(first, '<boolean>')
    return this.#writeAll(values, method === 'addColumn' ? 'column' : 'key')
  }

  #writeAll (values: readonly unknown[], built: string): string {
    return values.map((value) => this.#write(value, built)).filter((text) => text !== '').join(', ')
  }

  /**
   * Returns the JavaScript code for one argument of a recorded call to a builder of Kysely. A function that takes a
   * builder becomes an arrow function that makes the same calls, or no code (an empty text) if it makes no calls.
   *
   * @param built  name of the parameter of such an arrow function
   */
  #write (value: unknown, built: string): string {
    if (isExpression(value)) return this.#writeSql(value)
    if (Array.isArray(value)) return `[${this.#writeAll(value, built)}]`
    if (typeof value !== 'function') return literal(String(value))
    const { [kCalls]: calls }: Recorded = value(this.#record({}, []))
    return calls.length === 0 ? '' : `(${built}) => ${[built, ...calls].join('.')}`
  }

  #writeSql (expression: Expression<unknown>, type = ''): string {
    const { sql: text } = sql`${expression}`.compile(this.#db)
    // MariaDB quotes names with backticks, which would end a template. Lines of a template would be indented like code.
    if (/[`\n\r]/.test(text)) return `sql.raw${type}(${literal(text)})`
    return `sql${type}\`${text.replace(/[\\]|\$\{/g, '\\$&')}\``
  }
}

function joined (calls: readonly string[]): string {
  const line = `await schema.${calls.join('.')}`
  return line.length <= maxLineLength ? line : `await schema.${calls.join('\n  .')}`
}
