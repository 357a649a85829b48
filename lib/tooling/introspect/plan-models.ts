import { type AnyKysely, type Handle, readHandle } from '../../database/engine.js'
import { compositeFault } from '../../model/composite-key.js'
import { withUniqueLengths } from '../../model/unique-together.js'
import type { DatabasePlan, ModelPlan, Note } from './model-plan.js'
import { constantName, modelName, Names } from './names.js'
import { planFields } from './plan-fields.js'
import { planKeys, type KeyedTable, type PlannedTable } from './plan-keys.js'
import { columnOf, planUnique } from './plan-unique.js'
import { readDatabase } from './read-database.js'
import { byView, secretKey } from './remedies.js'
import { isSchemaName } from './require-schema.js'
import { secretColumns } from './secret-columns.js'

/**
 * Plans the models of the tables of a database.
 *
 * @param only  names of the tables; all if absent
 * @throws REST_MODELS_INVALID_OPTIONS if a named table does not exist
 */
export async function planModels (handle: AnyKysely, only?: readonly string[]): Promise<DatabasePlan> {
  const engine = readHandle(handle)
  const { keyed, composite, leftOut: keyless } = await planKeys(engine, await readDatabase(handle, only))
  const leftOut = [...keyless]
  const names = new Names()
  const constants = new Names()
  const secrets = await secretColumns(handle, [])
  const targetOf = finder([...keyed, ...composite], engine.dialect.foldName)
  const models: ModelPlan[] = []
  for (const table of [...keyed, ...composite].sort(inOrderOfNaming)) {
    const { name } = table.table
    const planned = await planModel(table, engine, targetOf)
    if (typeof planned === 'string') leftOut.push({ table: name, why: planned })
    else {
      const named = { name: names.take(modelName(name)), constant: constants.take(constantName(name)), table: name }
      models.push({ ...named, ...planned, notes: [...secretKeys(table, secrets), ...planned.notes] })
    }
  }
  return { models: inOrder(models), leftOut: only === undefined ? [...leftOut, ...await elsewhere(engine)] : leftOut }
}

/** Returns notes about the columns of a primary key that look secret. */
function secretKeys ({ table: { name, key } }: PlannedTable, secrets: ReadonlySet<string>): readonly Note[] {
  return key.filter((column) => secrets.has(`${name}.${column}`))
    .map((column) => ({ table: name, column, why: secretKey }))
}

type TargetOf = (wanted: string) => KeyedTable | PlannedTable | undefined
type PlannedParts = Omit<ModelPlan, 'name' | 'constant' | 'table'>

/** Plans the model of a table, without its names, or returns the reason why the table can have no model. */
async function planModel (
  table: KeyedTable | PlannedTable, engine: Handle, targetOf: TargetOf
): Promise<PlannedParts | string> {
  const { fields, notes } = await planFields(table, engine, targetOf)
  if (!('key' in table)) return planCompositeModel(table, { fields, notes })
  const { key } = table
  const isPlain = key.kind === 'key' && Object.keys(key.options).length === 0
  const planned = planUnique(table.table, fields)
  return {
    key: isPlain && fields.length > 0 ? undefined : key,
    keyFields: [],
    ...planned,
    notes: [...table.notes, ...notes, ...planned.notes]
  }
}

/** Plans a model whose key has several columns, or returns the reason why the table can have no model. */
function planCompositeModel (
  { table, table: { key } }: PlannedTable, { fields, notes }: Pick<PlannedParts, 'fields' | 'notes'>
): PlannedParts | string {
  // The texts of the key share an index, as those of the option `unique` do.
  const planned = planUnique({ ...table, uniqueTogether: [...table.uniqueTogether, key] }, fields)
  const found = key.map((column) => planned.fields.find((field) => columnOf(field) === column))
  const keyFields = found.flatMap((field) => field === undefined ? [] : [field.name])
  const columns = `a primary key of several columns (${key.join(', ')})`
  if (keyFields.length < key.length) {
    const missing = String(key[found.indexOf(undefined)])
    const [reason = ''] = notes.filter(({ column }) => column === missing).map(({ why }) => withoutRemedy(why))
    return `has ${columns}, of which '${missing}' cannot be a field: ${reason}; ${byView}`
  }
  const byName = Object.fromEntries(planned.fields.map((field) => [field.name, field]))
  const fault = compositeFault(withUniqueLengths(byName, [keyFields]), keyFields)
  if (fault !== undefined) return `has ${columns} that a model cannot have: ${fault}; ${byView}`
  const isKey = (names: readonly string[]): boolean => names.toSorted().join() === keyFields.toSorted().join()
  const unique = planned.unique.filter((names) => !isKey(names))
  return { ...planned, key: undefined, keyFields, unique, notes: [...notes, ...planned.notes] }
}

/**
 * Returns the reason in a note about a column that is left out, without the remedy after its last semicolon. Such a
 * remedy, for example a generated column that shows the values, does not help a column of a primary key.
 */
function withoutRemedy (why: string): string {
  return why.replace(/^left out: /, '').replace(/; [^;]*$/, '')
}

/**
 * Compares two tables, for `sort`. Those whose models have their names come first, so that none of them loses its name
 * to another table; otherwise by name.
 */
function inOrderOfNaming ({ table: one }: PlannedTable, { table: other }: PlannedTable): number {
  return Number(!keepsName(one.name)) - Number(!keepsName(other.name)) || (one.name < other.name ? -1 : 1)
}

function keepsName (table: string): boolean {
  return modelName(table).toLowerCase() === table.toLowerCase()
}

/**
 * Returns a note about each table that a statement finds only as `schema.table`, because the search path does not lead
 * to it. The note names the option `--schema`, which reads that schema if it takes its name. Returns none if the engine
 * has no schemas.
 */
async function elsewhere ({ db, dialect: { catalog } }: Handle): Promise<readonly Note[]> {
  const { rows } = await catalog.elsewhere?.execute(db) ?? { rows: [] }
  return rows.map(({ schema, table }) => {
    const remedy = isSchemaName(schema)
      ? `; read it with --schema ${schema}`
      : ', whose name --schema does not take; rename the schema'
    return { table: `${schema}.${table}`, why: `is in another schema${remedy}` }
  })
}

function finder (tables: ReadonlyArray<KeyedTable | PlannedTable>, fold: (name: string) => string): TargetOf {
  return (wanted) =>
    tables.find(({ table: { name } }) => name === wanted) ??
    tables.find(({ table: { name } }) => fold(name) === fold(wanted))
}

/**
 * Sorts models so that each comes after those that it refers to. In a circle, one comes before a model that it refers
 * to.
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
