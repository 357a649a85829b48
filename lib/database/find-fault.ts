import { sql, type Compilable, type SqlBool } from 'kysely'
import { propertyOf } from '../engines/failure-properties.js'
import type { StatementFailure } from '../engines/statement-failure.js'
import type { Stored } from '../engines/storage.js'
import { isClientGenerated, isForeignKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keyColumnsOf, keyValues, refersToItself } from '../model/key.js'
import type { GuardedReference } from '../plan/record-guard.js'
import type { Scope } from '../plan/viewer.js'
import { referenceExists } from '../sql/scoped-statements.js'
import { isEqual, keyConditions } from '../sql/selection.js'
import { toFindText } from '../sql/statements.js'
import type { RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'

/** A create or update that wrote nothing, or whose references are checked before it is executed. */
export interface SuspectWrite {
  readonly model: Model
  /** Columns that an error sent to the client may name. The other columns stay hidden from clients. */
  readonly known: ReadonlySet<Column>
  readonly values: ReadonlyMap<Column, Stored>
  /** Key of the record to update; absent for a create. */
  readonly id?: RecordKey
  /**
   * Foreign keys that the write sets, each with conditions on the record that it refers to. One without conditions is
   * left out.
   */
  readonly references: readonly GuardedReference[]
}

/**
 * Finds the first set of columns that must be unique, alone or together, and whose values another record has. Returns
 * undefined if there is none. A set is skipped if an error may not name one of its columns, or if the write sets one to
 * null, because nulls are never equal. In a create, a set is also skipped if the database fills one of its columns,
 * because that value is not known.
 */
export async function findTaken (engine: Engine, write: SuspectWrite): Promise<readonly Column[] | undefined> {
  const { model, known, values, id } = write
  const alone = [...values.keys()]
    .filter((column) => column.options.unique === true || isClientGenerated(column)).map((column) => [column])
  const key = keyColumnsOf(model)
  for (const columns of [...alone, ...key.length > 1 ? [key] : [], ...model.uniqueTogether]) {
    const isWritten = (column: Column): boolean => values.has(column)
    if (!(id === undefined ? columns.every(isWritten) : columns.some(isWritten))) continue
    if (columns.some((column) => values.get(column) === null || !known.has(column))) continue
    if (await finds(engine, othersWith(engine, write, columns))) return columns
  }
  return undefined
}

/**
 * Returns a query for another record with the same values in all of the columns. If an update does not write one of the
 * columns, the value that its record has stored there is compared.
 */
function othersWith (engine: Engine, { model, values, id }: SuspectWrite, columns: readonly Column[]) {
  const { dialect } = engine
  const { table, primaryKey } = model
  const key = id === undefined ? [] : keyConditions(model, keyValues(primaryKey, id, dialect), dialect)
  const isIt = sql.join(key, sql` and `)
  const isStored = ({ name }: Column) =>
    sql<SqlBool>`${sql.ref(name)} = (select ${sql.ref(name)} from ${sql.table(table)} where ${isIt})`
  const same = columns.reduce((query, column) => {
    const value = values.get(column)
    return query.where(value === undefined ? isStored(column) : isEqual(column, value, dialect))
  }, rowsOf(engine, model))
  return id === undefined ? same : same.where(sql<SqlBool>`not (${isIt})`)
}

/**
 * Finds the first written foreign key that refers to no record that the client may see; undefined if there is none.
 * Foreign keys that an error may not name are skipped, and so are those of a new record to itself.
 */
export async function findDangling (
  engine: Engine, { model, known, values, references }: SuspectWrite
): Promise<Column | undefined> {
  for (const [column, value] of values) {
    if (value === null || !isForeignKey(column) || !known.has(column)) continue
    if (refersToItself(column, model, values)) continue
    const guarded = references.find((reference) => reference.column === column)
    const target = column.target()
    const isThere = guarded === undefined
      ? await finds(engine, rowsOf(engine, target).where(isEqual(target.primaryKey, value, engine.dialect)))
      : await refersInto(engine, guarded, guarded.visible)
    if (!isThere) return column
  }
  return undefined
}

/** True if a foreign key refers to an existing record that meets all conditions of `scope`. */
export async function refersInto (engine: Engine, { column, value }: GuardedReference, scope: Scope): Promise<boolean> {
  const query = referenceExists(engine, { column, value, scope })
  const { row } = await engine.executor.execute(toFindText(query))
  return row !== undefined
}

function rowsOf ({ db }: Engine, { table }: Model) {
  return db.selectFrom(table).select(sql.lit(1).as('one')).limit(1)
}

async function finds (engine: Engine, query: Compilable): Promise<boolean> {
  const { row } = await engine.executor.execute(toFindText(query.compile()))
  return row !== undefined
}

/**
 * Finds the column that made an entry of an index too long. Of the columns of the index that the failure names, it is
 * the one with the longest written text. Returns undefined if the failure names no index, as on SQLite and MariaDB, if
 * no column of that index gets a text, or if an error may not name the column.
 */
export async function findOversized (
  engine: Engine, { known, values, failure }: SuspectWrite & { readonly failure: StatementFailure }
): Promise<Column | undefined> {
  const index = propertyOf(failure.cause, 'constraint')
  const rows = index === '' ? undefined : engine.dialect.indexColumns?.(index)
  if (rows === undefined) return undefined
  // Executors repeat only what Kysely knows to be a select.
  const query = engine.db.selectFrom(sql<{ name: string }>`(${rows})`.as('part')).select('name')
  const names = (await engine.executor.readArrays(query.compile(), ['name'])).map(([name]) => name)
  const [longest] = [...values].filter(([{ name }, value]) => names.includes(name) && typeof value === 'string')
    .sort(([, a], [, b]) => String(b).length - String(a).length)
  return [...known].find((column) => column === longest?.[0])
}
