import { sql, type Compilable } from 'kysely'
import { propertyOf } from '../engines/failure-properties.js'
import { StatementFailure } from '../engines/statement-failure.js'
import type { Stored } from '../engines/storage.js'
import { errors, withDetails } from '../errors.js'
import { isForeignKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
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
  if (taken !== undefined) return withField(new errors.NotUnique(`'${taken.key}'`), taken, 'is already taken')
  // If the other table cannot be read, for example because of a missing privilege, no field is named.
  const dangling = kind === 'reference' ? await findDangling(engine, write).catch(() => undefined) : undefined
  if (dangling !== undefined) {
    return withField(new errors.UnknownReference(dangling.key), dangling, 'refers to a record that does not exist')
  }
  // MariaDB's message about a taken value contains the value, and causes are logged.
  const cause = kind === 'unique'
    ? new Error('A unique index has this value, of a column that clients may not know, or that no field declares')
    : write.failure
  return new errors.Constraint({ cause })
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

function withField (error: Error, { key }: Column, message: string): Error {
  return withDetails(error, [{ field: key, message }])
}

/**
 * Finds the first written column that must be unique and whose value another record has. Columns that a client may not
 * know are skipped, because they got a default.
 */
async function findTaken (engine: Engine, { model, known, values, id }: RefusedWrite): Promise<Column | undefined> {
  for (const [column, value] of values) {
    if (value === null || column.options.unique !== true || !known.has(column)) continue
    const same = rowsWith(engine, model, column, value)
    if (await finds(engine, id === undefined ? same : same.where(model.primaryKey.name, '<>', id))) return column
  }
  return undefined
}

/** Finds the first written foreign key that refers to no record. */
async function findDangling (engine: Engine, { known, values }: RefusedWrite): Promise<Column | undefined> {
  for (const [column, value] of values) {
    if (value === null || !isForeignKey(column) || !known.has(column)) continue
    const target = column.target()
    if (!await finds(engine, rowsWith(engine, target, target.primaryKey, value))) return column
  }
  return undefined
}

function rowsWith ({ db, dialect }: Engine, { table }: Model, column: Column, value: Stored) {
  return db.selectFrom(table).select(sql.lit(1).as('one')).where(isEqual(column, value, dialect)).limit(1)
}

async function finds (engine: Engine, query: Compilable): Promise<boolean> {
  const { row } = await engine.executor.execute(query.compile())
  return row !== undefined
}
