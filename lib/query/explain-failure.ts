import { sql } from 'kysely'
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
  const options = { cause: write.failure }
  const { kind } = write.failure
  if (kind === 'unique') {
    const taken = await findFaulty(engine, write, ({ options }) => options.unique === true, isTaken)
    if (taken !== undefined) return withField(new errors.NotUnique(`'${taken.key}'`), taken, 'is already taken')
  }
  if (kind === 'reference') {
    const dangling = await findFaulty(engine, write, isForeignKey, isDangling)
    if (dangling !== undefined) return withField(new errors.UnknownReference(dangling.key), dangling, 'refers to a record that does not exist')
  }
  return new errors.Constraint(options)
}

function withField (error: Error, { key }: Column, message: string): Error {
  return withDetails(error, [{ field: key, message }])
}

type Question = (engine: Engine, write: FailedWrite, column: Column) => Promise<boolean>

/** The first written column of a sort of which the question holds; if only one was written, it needs no asking. */
async function findFaulty (
  engine: Engine, write: FailedWrite, isCandidate: (column: Column) => boolean, holds: Question
): Promise<Column | undefined> {
  const candidates = [...write.values].filter(([column, value]) => value !== null && isCandidate(column)).map(([column]) => column)
  if (candidates.length === 1) return candidates[0]
  for (const column of candidates) {
    if (await holds(engine, write, column)) return column
  }
  return undefined
}

const isTaken: Question = async (engine, { model, values, id }, column) => {
  const same = engine.db.selectFrom(model.table).select('id').where(sql<boolean>`${columnRef(column)} = ${values.get(column)}`).limit(1)
  const { rows } = await run(engine, (id === undefined ? same : same.where('id', '<>', id)).compile())
  return rows.length > 0
}

const isDangling: Question = async (engine, { values }, column) => {
  if (!isForeignKey(column)) return false
  const referred = engine.db.selectFrom(column.target().table).select('id').where('id', '=', values.get(column)).limit(1)
  const { rows } = await run(engine, referred.compile())
  return rows.length === 0
}
