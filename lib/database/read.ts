import type { Dialect } from '../engines/dialect.js'
import type { MaybePromise, Outcome, Query, Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import type { Model } from '../model/define-model.js'
import { idOf, keyValues, parseValue } from '../model/key.js'
import type { PlannedInclude } from '../plan/list-plan.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import { includingSelect, keysWith } from '../sql/include-read.js'
import { scopedSelect } from '../sql/scoped-statements.js'
import { nothing, type Statements, type StatementShape } from '../sql/statements.js'
import type { RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'

/** A resource's table, and the statements that are compiled for it. */
export interface ReadTarget extends StatementShape {
  readonly statements: Statements
}

/** Reads the visible columns of a record. Returns no row if there is no such record inside the scope. */
export function readVisible (reader: Engine, target: ReadTarget, { id, scope }: ScopedRecord): MaybePromise<Outcome> {
  const query = scope.length === 0
    ? target.statements.read(...keyOf(reader, target, id))
    : scopedSelect(reader, target, 'visible', { id, scope })
  return find(reader, target, id, query)
}

/**
 * Reads the visible columns of a record, and behind them those of related records.
 *
 * @returns undefined if there is no such record inside the scope
 */
export async function readIncluding (
  reader: Engine, target: ReadTarget, record: ScopedRecord, includes: readonly PlannedInclude[]
): Promise<readonly Stored[] | undefined> {
  const { model, visible, statements } = target
  const query = toFindText(includingSelect(reader, target, record, includes))
  const [row] = await reader.executor.readArrays(query, keysWith(target, includes))
  if (row === undefined || !statements.comparesTexts) return row
  const own = Object.fromEntries(visible.map(({ key }, index) => [key, row[index] as Stored]))
  return isIt(model, own, record.id, reader.dialect) ? row : undefined
}

/**
 * Reads the columns of a record that an update or delete has to know: those that records show, and the owner.
 *
 * @returns no row if there is no such record inside the scope
 */
export function readStored (
  engine: Engine, target: ReadTarget, { id, scope }: ScopedRecord
): MaybePromise<Outcome> {
  const query = scope.length === 0
    ? target.statements.stored(...keyOf(engine, target, id))
    : scopedSelect(engine, target, 'stored', { id, scope })
  return find(engine, target, id, query)
}

/** Runs a read of one record by its key. */
function find (engine: Engine, target: ReadTarget, id: RecordKey, query: Query): MaybePromise<Outcome> {
  return target.statements.comparesTexts ? findExact(engine, target, id, query) : engine.executor.execute(query)
}

/**
 * Runs a read by a key that has texts. For the collation of an existing column two texts may be equal that are not the
 * same, such as in different case: then the row that was found is of another record.
 */
async function findExact (
  { executor, dialect }: Engine, { model }: ReadTarget, id: RecordKey, query: Query
): Promise<Outcome> {
  const outcome = await executor.execute(toFindText(query))
  const isFound = outcome.row !== undefined && isIt(model, outcome.row, id, dialect)
  return isFound ? outcome : { row: undefined, changed: 0 }
}

/** True if a row is that of an id. A UUID in it may be stored in another case. */
function isIt (model: Model, row: Row, id: RecordKey, dialect: Dialect): boolean {
  const found = idOf(model, row, dialect)
  return found === id || (model.primaryKey.parts !== undefined && parseValue(model.primaryKey, String(found)) === id)
}

function keyOf ({ dialect }: Engine, { model }: ReadTarget, id: RecordKey): readonly Stored[] {
  return keyValues(model.primaryKey, id, dialect)
}

/** Returns a read that finds nothing if a text cannot be compared with its column: no row there has such a text. */
function toFindText (query: Query): Query {
  return { ...query, withoutIndex: () => nothing }
}
