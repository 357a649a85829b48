import { sql, type Compilable, type SqlBool } from 'kysely'
import { propertyOf } from '../engines/failure-properties.js'
import { StatementFailure } from '../engines/statement-failure.js'
import type { Stored } from '../engines/storage.js'
import { errors, withDetails } from '../errors.js'
import { isForeignKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { GuardedReference } from '../plan/record-guard.js'
import type { Scope } from '../plan/viewer.js'
import { referenceExists } from '../sql/scoped-statements.js'
import { isEqual } from '../sql/selection.js'
import type { RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'

/** A write that the database did not execute. */
interface FailedWrite {
  readonly model: Model
  /** Columns that an error may name. */
  readonly known: ReadonlySet<Column>
  readonly values: ReadonlyMap<Column, Stored>
  /** Key of the record to update; absent for a create. */
  readonly id?: RecordKey
  /** References whose records must lie inside a scope. */
  readonly references: readonly GuardedReference[]
}

/** A write that a rule of the database refused. */
interface RefusedWrite extends FailedWrite {
  readonly failure: StatementFailure
}

/**
 * Returns the error that a client gets for a write that failed. If a rule of the database refused the write, the error
 * names the faulty field, found by further queries and not by the text of the failure. Otherwise it is the failure
 * itself.
 */
export async function explainFailure (engine: Engine, failed: FailedWrite, failure: unknown): Promise<unknown> {
  return failure instanceof StatementFailure ? await explainRefusal(engine, { ...failed, failure }) : failure
}

async function explainRefusal (engine: Engine, write: RefusedWrite): Promise<Error> {
  const { kind } = write.failure
  if (kind === 'forbidden') return new errors.Forbidden({ cause: write.failure })
  if (kind === 'oversized') return await explainSize(engine, write)
  // Asked for broken references too: if there are two faults, each engine reports the one that it meets first.
  const taken = kind === 'constraint' ? undefined : await findTaken(engine, write)
  if (taken !== undefined) return notUnique(taken)
  // If the other table cannot be read, for example because of a missing privilege, no field is named.
  const dangling = kind === 'reference' ? await findDangling(engine, write).catch(() => undefined) : undefined
  if (dangling !== undefined) return unknownReference(dangling)
  // MariaDB's message about a taken value contains the value, and causes are logged.
  const cause = kind === 'unique'
    ? new Error('A unique index has this value, of a column that clients may not know, or that no field declares')
    : write.failure
  return new errors.Constraint({ cause })
}

/**
 * Returns the reason why a write that was admitted wrote nothing, although no rule of the database refused it.
 *
 * @returns REST_MODELS_NOT_UNIQUE (409) if it would have failed anyway, REST_MODELS_UNKNOWN_REFERENCE (400) if a
 *   reference leads to no record that the client may see, REST_MODELS_FORBIDDEN (403) if the record would lie outside
 *   its scope, otherwise REST_MODELS_CONSTRAINT (409), because a trigger of the database keeps the record as it is
 */
export async function explainUnwritten (engine: Engine, write: FailedWrite): Promise<Error> {
  if (write.references.length === 0) return new errors.Constraint()
  const taken = await findTaken(engine, write)
  if (taken !== undefined) return notUnique(taken)
  const dangling = await findDangling(engine, write)
  if (dangling !== undefined) return unknownReference(dangling)
  for (const reference of write.references) {
    if (!await isReferred(engine, reference, reference.required)) return new errors.Forbidden()
  }
  return new errors.Constraint()
}

function unknownReference (column: Column): Error {
  return withField(new errors.UnknownReference(column.key), column, 'refers to a record that does not exist')
}

async function explainSize (engine: Engine, write: RefusedWrite): Promise<Error> {
  const column = await findOversized(engine, write)
  if (column === undefined) return new errors.Constraint({ cause: write.failure })
  return withField(new errors.InvalidRecord(`'${column.key}'`), column, 'is too long for an index of the database')
}

/** Finds the column with the longest written text in the index that the failure names; undefined if it names none. */
async function findOversized (engine: Engine, { values, failure }: RefusedWrite): Promise<Column | undefined> {
  const index = propertyOf(failure.cause as Error, 'constraint')
  const query = index === '' ? undefined : engine.dialect.indexColumns?.(index)
  if (query === undefined) return undefined
  const names = (await engine.executor.readArrays(query.compile(engine.db), ['name'])).map(([name]) => name)
  const [longest] = [...values].filter(([{ name }, value]) => names.includes(name) && typeof value === 'string')
    .sort(([, a], [, b]) => String(b).length - String(a).length)
  return longest?.[0]
}

function notUnique (taken: readonly Column[]): Error {
  const message = taken.length === 1 ? 'is already taken' : 'is already taken in this combination'
  const error = new errors.NotUnique(taken.map(({ key }) => `'${key}'`).join(' and '))
  return withDetails(error, taken.map(({ key }) => ({ field: key, message })))
}

function withField (error: Error, { key }: Column, message: string): Error {
  return withDetails(error, [{ field: key, message }])
}

/**
 * Finds the first columns that must be unique, alone or together, and whose values another record has. Columns that a
 * client may not know are skipped, because they got a default.
 */
async function findTaken (engine: Engine, write: FailedWrite): Promise<readonly Column[] | undefined> {
  const { model, known, values } = write
  const alone = [...values.keys()].filter(({ options }) => options.unique === true).map((column) => [column])
  for (const columns of [...alone, ...model.uniqueTogether]) {
    const isWritten = columns.some((column) => values.has(column))
    if (!isWritten || columns.some((column) => values.get(column) === null || !known.has(column))) continue
    if (await finds(engine, othersWith(engine, write, columns))) return columns
  }
  return undefined
}

/** Selects another record that has the same values in all of the columns: those that are written, or as stored. */
function othersWith (engine: Engine, { model, values, id }: FailedWrite, columns: readonly Column[]) {
  const { db, dialect } = engine
  const { table, primaryKey } = model
  const isStored = ({ name }: Column) =>
    sql<SqlBool>`${sql.ref(name)} = ${db.selectFrom(table).select(name).where(primaryKey.name, '=', id)}`
  const same = columns.reduce((query, column) => {
    const value = values.get(column)
    return query.where(value === undefined ? isStored(column) : isEqual(column, value, dialect))
  }, rowsOf(engine, model))
  return id === undefined ? same : same.where(primaryKey.name, '<>', id)
}

/** Finds the first written foreign key that refers to no record that the client may see. */
async function findDangling (engine: Engine, { known, values, references }: FailedWrite): Promise<Column | undefined> {
  for (const [column, value] of values) {
    if (value === null || !isForeignKey(column) || !known.has(column)) continue
    const guarded = references.find((reference) => reference.column === column)
    const target = column.target()
    const isThere = guarded === undefined
      ? await finds(engine, rowsOf(engine, target).where(isEqual(target.primaryKey, value, engine.dialect)))
      : await isReferred(engine, guarded, guarded.visible)
    if (!isThere) return column
  }
  return undefined
}

/** True if a reference leads to a record inside a scope. */
async function isReferred (engine: Engine, { column, value }: GuardedReference, scope: Scope): Promise<boolean> {
  const { row } = await engine.executor.execute(referenceExists(engine, { column, value, scope }))
  return row !== undefined
}

function rowsOf ({ db }: Engine, { table }: Model) {
  return db.selectFrom(table).select(sql.lit(1).as('one')).limit(1)
}

async function finds (engine: Engine, query: Compilable): Promise<boolean> {
  const { row } = await engine.executor.execute(query.compile())
  return row !== undefined
}
