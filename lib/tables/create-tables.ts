import { sql, type ColumnDefinitionBuilder, type Kysely } from 'kysely'
import { checkCompiler } from '../../schemas/check.js'
import { shapeSchema } from '../../schemas/shapes.js'
import { encode, isForeignKey, isNow, isSecret, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { requireSoundDefaults } from '../plan/defaults.js'
import { readHandle, type AnyKysely, type Tables } from '../query/engine.js'
import type { Dialect } from '../vocabulary/dialects.js'
import { fieldKinds } from '../vocabulary/field-kinds.js'
import type { Json } from '../vocabulary/values.js'
import { checksOf } from './column-checks.js'
import { readTables, requireTables } from './compare-tables.js'

/**
 * Creates the tables that do not exist yet, with their constraints and indexes, all of them or none.
 * Tables that exist are compared with their models and never altered.
 *
 * @throws REST_MODELS_TABLE_MISMATCH if a table that exists does not fit, REST_MODELS_INVALID_MODEL if a default does not
 *   fit its field; nothing is created then
 */
export async function createTables (handle: AnyKysely, models: readonly Model[]): Promise<void> {
  const { db, dialect } = readHandle(handle)
  const compileCheck = checkCompiler()
  for (const { name, columns } of models) {
    requireSoundDefaults(name, columns, compileCheck(shapeSchema('update', { visible: [], writable: columns })))
  }
  const tables = await readTables(handle, dialect)
  requireTables(tables, models.filter((model) => tables.of(model) !== undefined), dialect)
  const missing = models.filter((model) => tables.of(model) === undefined)
  const byTable = new Map(missing.map((model) => [dialect.foldName(model.table), model]))
  try {
    await db.transaction().execute(async (transaction) => {
      for (const model of byTable.values()) await createTable(transaction, model, dialect)
      requireTables(await readTables(transaction, dialect), missing, dialect)
    })
  } catch (cause) {
    // Of processes that start at the same moment one makes the tables, and the others find them.
    const found = await readTables(handle, dialect)
    if (missing.some((model) => found.of(model) === undefined)) throw cause
    requireTables(found, missing, dialect)
  }
}

async function createTable (db: Kysely<Tables>, model: Model, dialect: Dialect): Promise<void> {
  let table = db.schema.createTable(model.table).addColumn('id', 'integer', (id) => id.primaryKey().autoIncrement())
  for (const column of model.columns.slice(1)) {
    const type = fieldKinds[column.kind].storage[dialect.name].type(column.options)
    table = table.addColumn(column.name, sql.raw(type), (builder) => constrain(builder, column, dialect))
  }
  await table.execute()
  for (const { name, options } of model.columns.filter(isForeignKey)) {
    if (options.unique === true) continue
    await db.schema.createIndex(`${model.table}__${name}__index`).on(model.table).column(name).execute()
  }
}

/** `no action` refuses as `restrict` does, but SQLite reports a `restrict` as if a trigger had failed. */
const onDeleteActions = { restrict: 'no action', cascade: 'cascade', 'set null': 'set null' } as const

function constrain (builder: ColumnDefinitionBuilder, column: Column, dialect: Dialect): ColumnDefinitionBuilder {
  let built = column.nullable ? builder : builder.notNull()
  if (column.options.unique === true) built = built.unique()
  const declared = defaultExpression(column, dialect)
  if (declared !== undefined) built = built.defaultTo(declared)
  const checks = checksOf(column, dialect.name)
  // One check holds all rules: of several Kysely keeps the last.
  if (checks.length > 0) built = built.check(sql`${sql.join(checks, sql` and `)}`)
  if (isForeignKey(column)) built = built.references(`${column.target().table}.id`).onDelete(onDeleteActions[column.options.onDelete ?? 'restrict'])
  return built
}

/** Rows that are inserted past the API get the same defaults, but for those that a function gives, and for passwords, which are hashed. */
function defaultExpression (column: Column, dialect: Dialect) {
  const { default: declared } = column.options
  if (declared === undefined || declared === null || typeof declared === 'function' || isSecret(column)) return undefined
  if (isNow(column)) return fieldKinds[column.kind].storage[dialect.name].now
  const value = fieldKinds[column.kind].accept(declared as Json, column.options) as Json
  return sql`${sql.lit(encode(column, value, dialect.name))}`
}
