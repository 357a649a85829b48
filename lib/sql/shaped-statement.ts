import { sql, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Query } from '../engines/executor.js'
import { Slot, type Stored } from '../engines/storage.js'
import type { StatementLabel, StatementOperation } from '../events/messages.js'
import { encode, type Column } from '../model/column.js'
import { isText, keyColumnsOf, keyValues } from '../model/key.js'
import type { PlannedInclude } from '../plan/list-plan.js'
import type { GuardedReference, ScopedRecord } from '../plan/record-guard.js'
import type { Scope } from '../plan/viewer.js'
import { itemAt } from '../values/lookup.js'
import { withoutSeeks } from './condition.js'
import { openCondition } from './filled-condition.js'
import type { OpenInclude } from './include-sql.js'
import { fillScope, scopeSql, shapeOfScope, type OpenScope } from './scope-sql.js'
import { columnRef, exactCondition, keyConditions } from './selection.js'
import type { SqlContext } from './sql-context.js'
import type { StatementShape } from './statements.js'

/** Makes a condition. It is called only if the cache does not have a statement of the same shape. */
export type Build = () => RawBuilder<SqlBool>

/**
 * A table that statements use: the name of its resource, its model, and its owner column, if there is one. Compiled
 * statements are cached under `cachedAs`, or if that is absent, under `name`.
 */
type StatementTable = Pick<StatementShape, 'name' | 'cachedAs' | 'model' | 'owner'>

/** Alias of the record that a reference leads to. It differs from the names of all tables, because none has a blank. */
const referred = 'referred record'

/** Alias of a record as it was when the statement that writes it began. */
const before = 'record before'

/** A record to write, with its scope and the records that the written foreign keys refer to. */
export interface CheckedRecord extends ScopedRecord {
  readonly references?: readonly GuardedReference[]
}

/**
 * True if a write that waits for another write of the same record would check related records as they were before the
 * other write (see {@link Dialect.rowVersion}). These are records that the scope leads to, or that references lead to.
 */
export function isSeenLate (
  { rowVersion }: Dialect, { scope, references = [] }: Pick<CheckedRecord, 'scope' | 'references'>
): boolean {
  return rowVersion !== undefined && (references.length > 0 || scope.some(({ path }) => path.joins.length > 0))
}

/**
 * The operation that events name for each kind of statement. The key of a kind also begins the name under which the
 * statement is cached.
 */
const operations = {
  'read visible': 'read',
  'read stored': 'lock',
  'read including': 'read',
  'lock stored': 'lock',
  create: 'create',
  update: 'update',
  delete: 'delete',
  reference: 'reference',
  references: 'reference'
} as const satisfies Readonly<Record<string, StatementOperation>>

/**
 * Builds a statement on one record whose conditions may depend on the user. Each method adds values with a {@link Slot}
 * for each, and adds to the statement's name all that its SQL depends on. `compileOnce` then caches the statement by
 * name.
 */
export class ShapedStatement {
  readonly #shape: StatementTable
  readonly #dialect: Dialect
  readonly #values: Stored[] = []
  readonly #label: StatementLabel
  #name: string

  constructor (what: keyof typeof operations, shape: StatementTable, dialect: Dialect) {
    this.#label = { operation: operations[what], resource: shape.name }
    this.#shape = shape
    this.#dialect = dialect
    this.#name = `${what} of ${shape.cachedAs ?? shape.name}`
  }

  /**
   * Returns the conditions that a row is the record with the key `id`, and meets all conditions of `scope`. If
   * `ownerId` is given and the resource has an owner field, the user with this id must own the record, too.
   */
  isRecord ({ id, scope, ownerId }: ScopedRecord): readonly Build[] {
    const { model, model: { primaryKey, table }, owner } = this.#shape
    const values = keyValues(primaryKey, id, this.#dialect)
    const slots = values.map((value) => this.#take(value))
    const isTheOne: Build = () => sql<SqlBool>`${sql.join(keyConditions(model, slots, this.#dialect), sql` and `)}`
    const isOwn = owner === undefined || ownerId === undefined ? [] : [this.#equals(owner, ownerId)]
    if (isOwn.length > 0) this.#name += ' own'
    return [isTheOne, ...isOwn, ...this.#holds(scope, table)]
  }

  /**
   * Returns the condition that a record which is to be written has not been written since the statement began. It is
   * there only if {@link isSeenLate}. The subquery sees the row as the conditions on related records see those.
   */
  isUnwritten (record: CheckedRecord): readonly Build[] {
    const { rowVersion, views } = this.#dialect
    const { model, model: { table } } = this.#shape
    if (rowVersion === undefined || !isSeenLate(this.#dialect, record)) return []
    const isView = views?.has(model) === true
    const isTheOne = keyColumnsOf(model).flatMap((column) => {
      const both = [columnRef(column, before), columnRef(column, table)]
      // Texts of two records may be equal in the collation of the column.
      const pairs = isText(column) ? [both, both.map((text) => this.#dialect.exact(text))] : [both]
      return pairs.map((pair) => sql.join(pair, sql` = `))
    })
    return [() => sql<SqlBool>`${rowVersion({ name: table, isView })} = (
      select ${rowVersion({ name: before, isView })} from ${sql.table(table)} as ${sql.ref(before)}
      where ${sql.join(isTheOne, sql` and `)})`]
  }

  /** Returns a condition for each foreign key: it refers to a record that meets the conditions of the reference. */
  leads (references: readonly GuardedReference[]): readonly Build[] {
    return references.map(({ column, value, visible, required }) => {
      const target = column.target()
      this.#name += ` to:${column.key}`
      const key = this.#take(encode(column, value, this.#dialect))
      const holds = this.#holds([...visible, ...required], referred)
      const isTarget: Build = () =>
        exactCondition({ column: target.primaryKey, value: key, alias: referred }, this.#dialect)
      return () => sql<SqlBool>`exists (select 1 from ${sql.table(target.table)} as ${sql.ref(referred)}
        where ${sql.join([isTarget, ...holds].map((build) => build()), sql` and `)})`
    })
  }

  /** Returns related records with a slot for each value of their scopes. */
  open (includes: readonly PlannedInclude[]): readonly OpenInclude[] {
    return includes.map(({ scope, ...include }) => {
      this.#name += ` with:${include.from}.${include.column.key}`
      return { ...include, conditions: this.#open(scope) }
    })
  }

  /** Returns the names of the columns to write, each with a slot for its value. */
  write (values: ReadonlyMap<Column, Stored>): ReadonlyArray<readonly [name: string, slot: Slot]> {
    return [...values].map(([{ name, key }, value]) => {
      this.#name += ` set:${key}`
      return [name, this.#take(value)] as const
    })
  }

  /** Returns the statement with its values. It is built only if the cache does not have a statement of its shape. */
  compileOnce ({ shapes }: SqlContext, build: () => { compile (): CompiledQuery }): Query {
    const { query, queryId, sql, parameters } = shapes.memo(this.#name, { context: () => build().compile() })
    const values = parameters.map((parameter) =>
      parameter instanceof Slot ? this.#values[parameter.position] : parameter)
    return { query, queryId, sql, parameters: values, label: this.#label }
  }

  #equals (column: Column, value: Stored): Build {
    const slot = this.#take(value)
    return () => exactCondition({ column, value: slot }, this.#dialect)
  }

  #holds (scope: Scope, base: string): readonly Build[] {
    // One row is looked up by its key, so no index of a text is needed.
    return this.#open(scope).map((open) => () => scopeSql(open, base, withoutSeeks(this.#dialect)))
  }

  #open (scope: Scope): readonly OpenScope[] {
    return scope.map((condition) => {
      const filled = fillScope(condition, this.#dialect)
      this.#name += ` if:${shapeOfScope(filled)}`
      let index = 0
      return openCondition(filled, () => this.#take(itemAt(filled.values, index++)))
    })
  }

  #take (value: Stored): Slot {
    return new Slot(this.#values.push(value) - 1)
  }
}
