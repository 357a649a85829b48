import { checkCompiler } from '../../schemas/check.js'
import { valueSchema } from '../../schemas/shapes.js'
import { readHandle, type AnyKysely, type Handle } from '../database/engine.js'
import { errors } from '../errors.js'
import { isModel, type Model } from '../model/model.js'
import { requireSoundDefaults } from '../plan/defaults.js'
import { requireTables } from './compare-tables.js'
import { readTables, type DatabaseTables } from './read-tables.js'
import { findUnreferable, referencesOf, referringStorages } from './foreign-keys.js'
import { planTables, requireTargets, type TablePlan } from './plan-tables.js'
import { changeSchema } from './schema-change.js'
import { addReference, createIndex, createTable, indexesOf } from './table.js'
import { requireUniqueIndexes } from './unique-indexes.js'

/**
 * Creates the tables that do not exist yet, with their constraints and indexes, all of them or none. If this fails on
 * MariaDB, a table to which another process has written meanwhile stays. Tables that exist are compared with their
 * models, and never altered. If several processes call this at the same time, one creates the tables, the others wait.
 *
 * @throws REST_MODELS_TABLE_MISMATCH if a table that exists does not fit, if a foreign key cannot refer to it, or if
 *   the table that a foreign key refers to is missing (SQLite permits that); REST_MODELS_INVALID_MODEL if a default
 *   does not fit its field; REST_MODELS_INVALID_OPTIONS if `models` is no list of models; nothing is created then
 */
export async function createTables (handle: AnyKysely, models: readonly Model[]): Promise<void> {
  const { dialect } = readHandle(handle)
  requireModels(models)
  requireDefaults(models)
  // If the engine cannot create tables in a transaction, another process may still be working on a table that exists.
  // Only the holder of the lock can be sure that the table is complete.
  const canBeHalfMade = dialect.schema.begin === undefined
  if (!canBeHalfMade && (await missingOf(handle, await readTables(handle, models), models)).length === 0) return
  await changeSchema(handle, async (db, made) => {
    // While this process waited for the lock, another may have made tables, or dropped those that it could not finish.
    const tables = await readTables(db, models)
    const byTable = new Map((await missingOf(db, tables, models)).map((model) => [tables.nameOf(model), model]))
    const steps = planTables([...byTable.values()], dialect)
    requireTargets(steps, tables, dialect)
    await requireReferable({ db, dialect }, tables, steps)
    const storages = referringStorages(tables, models, dialect)
    for (const { model, references } of steps.tables) {
      await createTable(db, { model, references }, { ...dialect, storages })
      made.push(model.table)
      for (const index of indexesOf(model, dialect)) await createIndex(db, model, index)
    }
    for (const reference of steps.references) await addReference(db, reference)
    await requireFit(db, await readTables(db, models), models)
  })
}

function requireModels (models: readonly Model[]): void {
  if (Array.isArray(models) && models.every(isModel)) return
  throw new errors.InvalidOptions('createTables() needs a list of models made by defineModel(); ' +
    'if one of them is undefined, do files import each other in a circle?')
}

async function requireReferable (
  handle: Pick<Handle, 'db' | 'dialect'>, tables: DatabaseTables, steps: TablePlan
): Promise<void> {
  const lines = await findUnreferable(handle, tables, steps.tables.flatMap(({ model }) => referencesOf(model)))
  if (lines.length === 0) return
  throw new errors.TableMismatch(`No table was created:\n- ${lines.join('\n- ')}`)
}

/**
 * Checks that the defaults of models fit their fields. Defaults that a function makes are not checked.
 *
 * @throws REST_MODELS_INVALID_MODEL naming the model and the field
 */
export function requireDefaults (models: readonly Model[]): void {
  const checks = checkCompiler()
  for (const { name, columns } of models) {
    requireSoundDefaults(name, columns, (column) => checks.ofValue(valueSchema(column)))
  }
}

/** Returns the models whose tables do not exist. Throws if a table that exists does not fit its model. */
async function missingOf (
  handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]
): Promise<readonly Model[]> {
  await requireFit(handle, tables, models.filter((model) => tables.has(model)))
  return models.filter((model) => !tables.has(model))
}

async function requireFit (handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]): Promise<void> {
  requireTables(tables, models, readHandle(handle).dialect)
  await requireUniqueIndexes(handle, tables, models)
}
