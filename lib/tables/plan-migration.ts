import type { Engine } from '../database/engine.js'
import type { Dialect } from '../engines/dialect.js'
import { errors } from '../errors.js'
import type { Storage } from '../engines/storage.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keyColumnsOf } from '../model/key.js'
import { reachableModels } from '../model/reachable-models.js'
import { changedChecks } from './changed-checks.js'
import { compareField, nameField, inheritanceFaults } from './compare-tables.js'
import { readTables, type DatabaseTables } from './read-tables.js'
import { findUnfillable, unfillableLines } from './fillable.js'
import { requireDefaults } from './create-tables.js'
import { readParts, type ExistingParts, type TableChange } from './existing-parts.js'
import { findUnreferable, referencesOf, referringStorages } from './foreign-keys.js'
import { missingReferences } from './missing-references.js'
import { findObstacles } from './obstacles.js'
import { planTables, type TablePlan } from './plan-tables.js'
import { readTableFacts, tableObstacles } from './table-obstacles.js'
import { typeOf } from './table.js'

/**
 * The tables and parts of tables that a migration adds to a database for models, and the differences between models and
 * existing tables that the migration leaves as they are.
 */
export interface MigrationPlan {
  readonly tables: TablePlan
  readonly changes: readonly TableChange[]
  /**
   * How to store each foreign key that refers to an existing column, by the column of the foreign key. Each storage has
   * exactly the type of the referenced column, because PostgreSQL and MariaDB may refuse another. Empty on SQLite.
   */
  readonly storages: ReadonlyMap<Column, Storage>
  /** Differences between models and existing tables that the migration leaves as they are, as texts with remedies. */
  readonly differences: readonly string[]
}

/**
 * Compares models, and those that their foreign keys lead to, with a database. Plans to add the tables, the columns
 * with their foreign keys, and the indexes that the database lacks.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the fields if existing rows or tables keep something from being added,
 *   REST_MODELS_INVALID_MODEL if a default does not fit its field
 */
export async function planMigration (engine: Engine, given: readonly Model[]): Promise<MigrationPlan> {
  const { dialect } = engine
  const models = [...reachableModels(given)]
  requireDefaults(models)
  const tables = await readTables(engine.db, models)
  const existing = models.filter((model) => tables.has(model))
  const storages = referringStorages(tables, models, dialect)
  const { created, changes } = await findMissing(engine, tables, models)
  await requireAddable(engine, tables, { created, changes })
  const rules = await readRules(engine, tables)
  return {
    storages,
    tables: planTables(created, dialect),
    changes,
    differences: [
      ...existing.flatMap((model) => inheritanceFaults(tables, model)),
      ...existing.flatMap((model) => differencesOf(model, tables, { ...dialect, storages })),
      ...missingReferences(existing, rules),
      ...changedChecks(existing, rules),
      ...unfillableLines(await findUnfillable(engine.db, tables, existing), dialect).map((line) =>
        `${line}: declare it in the model, or give it a default in the table`)
    ]
  }
}

/**
 * Reads the foreign keys of a database (`references`), its check constraints (`checks`), and the tables that can have
 * no foreign keys (`detached`).
 */
async function readRules ({ db, dialect, dialect: { catalog } }: Engine, tables: DatabaseTables) {
  const { rows: references } = await catalog.references.execute(db)
  const { rows: detached } = await catalog.tablesWithoutForeignKeys?.execute(db) ?? { rows: [] }
  const { rows: checks } = await catalog.checks.execute(db)
  return { db, dialect, tables, references, detached, checks }
}

async function requireAddable (
  engine: Engine, tables: DatabaseTables, { created, changes }: Awaited<ReturnType<typeof findMissing>>
): Promise<void> {
  const references = [
    ...created.flatMap((model) => referencesOf(model)),
    ...changes.flatMap(({ model, columns }) => referencesOf(model, columns))
  ]
  const facts = await readTableFacts(engine, tables)
  const existing = changes.filter(({ model }) => tables.has(model))
  const obstacles = [
    ...existing.flatMap((change) => tableObstacles(change, facts)),
    ...await findObstacles(engine, tables, existing),
    ...await findUnreferable(engine, tables, references)
  ]
  if (obstacles.length > 0) throw new errors.TableMismatch(`No migration can be written:\n- ${obstacles.join('\n- ')}`)
}

/**
 * Returns the models whose tables must be created, and the parts that the tables of the other models lack. If several
 * models share a table, the first of them creates it.
 */
async function findMissing (
  engine: Engine, tables: DatabaseTables, models: readonly Model[]
): Promise<{ readonly created: readonly Model[], readonly changes: readonly TableChange[] }> {
  const read = await readParts(engine, tables)
  const parts = new Map<string, ExistingParts>()
  const created: Model[] = []
  const changes: TableChange[] = []
  for (const model of models.filter((model) => !tables.isView(model))) {
    const name = tables.nameOf(model)
    const isNew = !tables.has(model) && !parts.has(name)
    const own = parts.get(name) ?? read(model)
    parts.set(name, own)
    // Not every engine can add a column of the key to a table with rows, so a missing one is reported as a difference.
    const addable = model.columns.filter((column) => isNew || !keyColumnsOf(model).includes(column))
    const change = { model, ...own.add(model, addable) }
    const isWhole = [change.columns, change.unique, change.indexes].every(({ length }) => length === 0)
    if (isNew) created.push(model)
    else if (!isWhole) changes.push(change)
  }
  return { created, changes }
}

function differencesOf (model: Model, tables: DatabaseTables, dialect: Dialect): readonly string[] {
  const isFixed = tables.isView(model)
  return model.columns.flatMap((column) => {
    const found = tables.columnOf(model, column)
    if (found === undefined) {
      return isFixed || keyColumnsOf(model).includes(column)
        ? [`${nameField(model, column)} needs column '${column.name}' of ${isFixed ? 'view' : 'table'} ` +
          `'${model.table}', which does not exist: name another with 'column', or add it by a statement of your own`]
        : []
    }
    const made = `${typeOf(column, model, dialect)}${column.nullable ? '' : ' not null'}`
    return compareField({ model, column }, { tables, found, dialect })
      .map((text) => `${text}; createTables() makes it ${made}: change the model, or the column by a statement of ` +
        'your own')
  })
}
