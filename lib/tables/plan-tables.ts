import type { Dialect } from '../engines/dialect.js'
import { errors } from '../errors.js'
import { isForeignKey, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { requireIndexable } from './indexable.js'
import type { DatabaseTables } from './read-tables.js'

/** A foreign key, and the model that has it. */
export interface Reference {
  readonly model: Model
  readonly column: ForeignKeyColumn
}

/** A table to create, and those of its foreign keys that can be created with it. */
export interface PlannedTable {
  readonly model: Model
  readonly references: readonly ForeignKeyColumn[]
}

/**
 * The tables in the order in which they are created, and the foreign keys to add after the last table, because they are
 * part of a circle of tables that refer to each other.
 */
export interface TablePlan {
  readonly tables: readonly PlannedTable[]
  readonly references: readonly Reference[]
}

/**
 * Orders tables so that each one comes after those that it refers to. So each table is created with its foreign keys,
 * even if the creation of a later one fails. Foreign keys that close a circle are added after the last table if the
 * engine lets a table refer only to tables that exist. Otherwise they are created with their tables, too.
 *
 * @throws REST_MODELS_INVALID_MODEL as {@link requireIndexable}
 */
export function planTables (models: readonly Model[], { schema }: Dialect): TablePlan {
  for (const model of models) requireIndexable(model)
  const waiting = new Set(models)
  const tables: PlannedTable[] = []
  const references: Reference[] = []
  for (let [first] = waiting; first !== undefined; [first] = waiting) {
    const canBeWhole = (model: Model): boolean => targetsOf(model).every((column) => canReferTo(model, column, waiting))
    const next = [...waiting].find(canBeWhole) ?? first
    const isNow = (column: ForeignKeyColumn): boolean => !schema.needsTargets || canReferTo(next, column, waiting)
    tables.push({ model: next, references: targetsOf(next).filter(isNow) })
    references.push(...targetsOf(next).filter((column) => !isNow(column)).map((column) => ({ model: next, column })))
    waiting.delete(next)
  }
  return { tables, references }
}

function targetsOf ({ columns }: Model): readonly ForeignKeyColumn[] {
  return columns.filter(isForeignKey)
}

/**
 * True if the table of `model` can be created now with this foreign key, also on an engine where the table that it
 * refers to must exist. This table must be that of `model` itself, or one that is not in `waiting`, the models still to
 * create.
 */
function canReferTo (model: Model, column: ForeignKeyColumn, waiting: ReadonlySet<Model>): boolean {
  const target = column.target()
  return target === model || !waiting.has(target)
}

/**
 * Checks that each foreign key of the tables to create refers to a table that exists or is to be created. Does nothing
 * on SQLite, where a table may refer to one that does not exist.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the foreign key and the table that is missing
 */
export function requireTargets ({ tables }: TablePlan, existing: DatabaseTables, { schema }: Dialect): void {
  const created = new Set(tables.map(({ model }) => model))
  for (const { model } of schema.needsTargets ? tables : []) {
    const column = targetsOf(model).find(({ target }) => !created.has(target()) && !existing.has(target()))
    if (column === undefined) continue
    const { name, table } = column.target()
    throw new errors.TableMismatch(
      `field '${column.field}' of model '${model.name}' refers to model '${name}', ` +
      `whose table '${table}' does not exist: name it in createTables() as well`)
  }
}
