import { type AnyKysely, type Handle, readHandle } from '../../database/engine.js'
import type { DatabasePlan, ModelPlan, Note } from './model-plan.js'
import { constantName, modelName, Names } from './names.js'
import { planFields } from './plan-fields.js'
import { planKeys, type KeyedTable } from './plan-keys.js'
import { planUnique } from './plan-unique.js'
import { readDatabase } from './read-database.js'

/**
 * Plans the models of the tables of a database.
 *
 * @param only  names of the tables; all if absent
 * @throws REST_MODELS_INVALID_OPTIONS if a named table does not exist
 */
export async function planModels (handle: AnyKysely, only?: readonly string[]): Promise<DatabasePlan> {
  const engine = readHandle(handle)
  const { keyed, leftOut } = await planKeys(engine, await readDatabase(handle, only))
  const names = new Names()
  const constants = new Names()
  const targetOf = finder(keyed, engine.dialect.foldName)
  const models: ModelPlan[] = []
  for (const table of keyed) {
    const { key, table: { name }, notes: keyNotes } = table
    const isPlain = key.kind === 'key' && Object.keys(key.options).length === 0
    const { fields, notes } = await planFields(table, engine, targetOf)
    const planned = planUnique(table.table, fields)
    models.push({
      name: names.take(modelName(name)),
      constant: constants.take(constantName(name)),
      table: name,
      key: isPlain && fields.length > 0 ? undefined : key,
      ...planned,
      notes: [...keyNotes, ...notes, ...planned.notes]
    })
  }
  return { models: inOrder(models), leftOut: only === undefined ? [...leftOut, ...await elsewhere(engine)] : leftOut }
}

/** Returns notes about the tables of other schemas. */
async function elsewhere ({ db, dialect: { catalog } }: Handle): Promise<readonly Note[]> {
  const { rows } = await catalog.elsewhere?.execute(db) ?? { rows: [] }
  return rows.map(({ schema, table }) =>
    ({ table: `${schema}.${table}`, why: `is in another schema; read it with --schema ${schema}` }))
}

function finder (keyed: readonly KeyedTable[], fold: (name: string) => string) {
  return (wanted: string): KeyedTable | undefined =>
    keyed.find(({ table: { name } }) => name === wanted) ??
    keyed.find(({ table: { name } }) => fold(name) === fold(wanted))
}

/**
 * Sorts models so that each comes after those that it refers to. In a circle of references, one of them comes first.
 */
function inOrder (models: readonly ModelPlan[]): readonly ModelPlan[] {
  const ordered = new Set<ModelPlan>()
  const visited = new Set<ModelPlan>()
  const visit = (model: ModelPlan): void => {
    if (visited.has(model)) return
    visited.add(model)
    const targets = new Set(model.fields.map(({ target }) => target))
    for (const other of models.filter(({ table }) => targets.has(table))) visit(other)
    ordered.add(model)
  }
  for (const model of models) visit(model)
  return [...ordered]
}
