import { sql, type Compilable, type SqlBool } from 'kysely'
import { errors, withDetails } from '../errors.js'
import { isForeignKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Stored } from '../vocabulary/storage.js'
import { run, type Engine, type StatementFailure } from './engine.js'
import { columnRef } from './selection.js'

interface FailedWrite {
  readonly model: Model
  readonly values: ReadonlyMap<Column, Stored>
  readonly id?: number
  readonly failure: StatementFailure
}

/** What a client is told about a write that the database refused; which field it was is asked, not read from an error's text. */
export async function explainFailure (engine: Engine, write: FailedWrite): Promise<Error> {
  const { kind } = write.failure
  const taken = kind === 'unique' ? await findTaken(engine, write) : undefined
  if (taken !== undefined) return withField(new errors.NotUnique(`'${taken.key}'`), taken, 'is already taken')
  const dangling = kind === 'reference' ? await findDangling(engine, write) : undefined
  if (dangling !== undefined) return withField(new errors.UnknownReference(dangling.key), dangling, 'refers to a record that does not exist')
  return new errors.Constraint({ cause: write.failure })
}

function withField (error: Error, { key }: Column, message: string): Error {
  return withDetails(error, [{ field: key, message }])
}

/** The first written column whose value another record has, although it must be unique. */
async function findTaken (engine: Engine, { model, values, id }: FailedWrite): Promise<Column | undefined> {
  for (const [column, value] of values) {
    if (value === null || column.options.unique !== true) continue
    const same = engine.db.selectFrom(model.table).select('id').where(sql<SqlBool>`${columnRef(column)} = ${value}`).limit(1)
    if (await finds(engine, id === undefined ? same : same.where('id', '<>', id))) return column
  }
  return undefined
}

/** The first written foreign key that refers to no record. */
async function findDangling (engine: Engine, { values }: FailedWrite): Promise<Column | undefined> {
  for (const [column, value] of values) {
    if (value === null || !isForeignKey(column)) continue
    if (!await finds(engine, engine.db.selectFrom(column.target().table).select('id').where('id', '=', value).limit(1))) return column
  }
  return undefined
}

async function finds (engine: Engine, query: Compilable): Promise<boolean> {
  const { rows } = await run(engine, query.compile())
  return rows.length > 0
}
