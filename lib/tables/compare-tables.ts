import { isYes, type ColumnRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import type { Storage } from '../engines/storage.js'
import { errors } from '../errors.js'
import { isGenerated, storageOf, type Column } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Compares models with their tables: columns, types, whether null is permitted, whether the database generates the
 * primary key, and whether other tables inherit from the table, so that a key may name several rows. A table may have
 * further columns.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming both sides of every difference
 */
export function requireTables (tables: DatabaseTables, models: Iterable<Model>, dialect: Dialect): void {
  const differences = [...models].flatMap((model) => compareTable(tables, model, dialect))
  if (differences.length > 0) {
    throw new errors.TableMismatch(`The database does not fit the models:\n- ${differences.join('\n- ')}`)
  }
}

/** True if at least one column of the models has the given type in the database. */
export function hasType (tables: DatabaseTables, models: Iterable<Model>, type: string): boolean {
  return [...models].some((model) =>
    model.columns.some((column) => tables.columnOf(model, column)?.type === type))
}

/**
 * Returns the columns that need another storage than `dialect` has for their kind, because of their type, collation or
 * index in this database, each with the storage that it needs. {@link requireTables} must have found all columns of the
 * models before.
 */
export function storagesOf (
  tables: DatabaseTables, models: Iterable<Model>, dialect: Dialect
): ReadonlyMap<Column, Storage> {
  const storages = new Map<Column, Storage>()
  for (const model of models) {
    for (const column of model.columns) {
      const found = tables.columnOf(model, column)
      const storage = found && storageOf(column, dialect).ofType?.(found, column.options)
      if (storage !== undefined) storages.set(column, storage)
    }
  }
  return storages
}

function compareTable (tables: DatabaseTables, model: Model, dialect: Dialect): readonly string[] {
  if (!tables.has(model)) {
    const { schema: { missingTableHint = '' } } = dialect
    return [`model '${model.name}' needs table '${model.table}', which does not exist; ` +
      `createTables() creates it${missingTableHint}`]
  }
  return [...inheritanceFaults(tables, model), ...model.columns.flatMap((column) => {
    const found = tables.columnOf(model, column)
    return found === undefined
      ? [`${nameField(model, column)} needs column '${column.name}' of table '${model.table}', which does not exist; ` +
        "add it by a migration, or name another with 'column'"]
      : compareField({ model, column }, { tables, found, dialect })
  })]
}

/**
 * Returns a sentence with the remedy if other tables inherit from the table of a model. No model can have such a table,
 * because rows of the other tables may have the same keys. Returns an empty list for any other table.
 */
export function inheritanceFaults (tables: DatabaseTables, model: Model): readonly string[] {
  if (!tables.isInherited(model)) return []
  return [`model '${model.name}' cannot have table '${model.table}': other tables inherit from it, and their rows ` +
    'may have the same keys, so that a write would change several; name a view of the table alone, made by ' +
    `'create view … as select * from only ${model.table}'`]
}

/** Returns the field of a column in words, for messages: `field 'email' of model 'User'`. */
export function nameField ({ name }: Model, { field }: Column): string {
  return `field '${field}' of model '${name}'`
}

/** Returns how a field differs from its column in the database, as sentences; none if it does not. */
export function compareField (
  { model, column }: { readonly model: Model, readonly column: Column },
  { tables, found, dialect }: { readonly tables: DatabaseTables, readonly found: ColumnRow, readonly dialect: Dialect }
): readonly string[] {
  const mayBeNull = keyColumnsOf(model).includes(column) && dialect.schema.keysMayBeNull === true
  return compareColumn(column, found, { dialect, mayBeNull, isView: tables.isView(model) })
    .map((difference) => `${nameField(model, column)} ${difference} in table '${model.table}'`)
}

interface Comparison {
  readonly dialect: Dialect
  /** True for a column that may be null in the database, whatever its field says. */
  readonly mayBeNull: boolean
  readonly isView: boolean
}

/** End of a message. SQLite gives a type to a column of a view only if it is a column of a table, or a cast. */
const untypedView = 'of no type: cast the expression in the view, as in cast(sum(price) as integer)'

function compareColumn (
  column: Column, found: ColumnRow, { dialect, mayBeNull, isView }: Comparison
): readonly string[] {
  const { holds, isShown } = storageOf(column, dialect)
  const { name, type, named = type } = found
  const isNullable = isYes(found.nullable)
  const differences: string[] = []
  if (!holds(type)) {
    differences.push(`is ${column.kind}, but column '${name}' is ${named || (isView ? untypedView : 'of no type')}`)
  }
  const isMade = isGenerated(column)
  if (isMade && !isYes(found.generated) && !isView) {
    differences.push(`needs column '${name}' to be the primary key whose integers the database generates`)
  }
  const isNeverNull = column.kind === 'key' && isYes(found.generated)
  // A `not null` column may hold a value that no record can show, such as infinity, or get one later. Records then show
  // null, so the field may be nullable.
  const isShownAsNull = column.nullable && isShown !== undefined
  // SQLite and PostgreSQL call every column of a view nullable.
  const mayDiffer = isView || isMade || isNeverNull || mayBeNull || isShownAsNull
  if (!mayDiffer && column.nullable !== isNullable) {
    differences.push(`${column.nullable ? 'is nullable' : 'is not nullable'}, ` +
      `but column '${name}' is ${isNullable ? 'nullable' : 'not null'}`)
  }
  return differences
}
