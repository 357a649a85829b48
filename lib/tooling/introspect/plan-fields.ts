import { checkCompiler, type CheckCompiler } from '../../../schemas/check.js'
import { valueSchema } from '../../../schemas/shapes.js'
import type { Handle } from '../../database/engine.js'
import { isYes, readType, type ColumnRow, type DescribedType } from '../../engines/catalog.js'
import type { StorageName } from '../../engines/storage.js'
import type { FieldKind } from '../../fields/field-kinds.js'
import { defineModel } from '../../model/define-model.js'
import type { Field, Model } from '../../model/model.js'
import { requireSoundDefaults } from '../../plan/defaults.js'
import { maxUniqueLength, type FieldOptions } from '../../values/field-options.js'
import { defaultValue, expression } from './default-values.js'
import { heldType, holdsUnshown } from './held-values.js'
import type { FieldPlan, Note } from './model-plan.js'
import { fieldName, Names, referenceName } from './names.js'
import { isPlainName, type KeyedTable } from './plan-keys.js'
import { planReference, type ReferenceSetting } from './plan-reference.js'
import type { FoundTable } from './read-database.js'

/** Names of text columns that hold stored passwords. Nobody may filter by a password field, and writes are hashed. */
const passwordName = /^(?:password|passwd|pwd|pass_?word_?hash|hashed_?password)$/i

/** Characters of a hash from hashPassword(). */
const hashLength = 97

/** Note about a column that becomes nullable because of its values. */
const unshownNote = 'holds values that no record can show, such as infinity or a date before our era, ' +
  'and is nullable: they are shown as null'

/** The context for planning a column of a table. */
interface Setting extends ReferenceSetting {
  /** The primary key of the table. */
  readonly key: FieldPlan
  readonly checks: CheckCompiler
  readonly names: Names
}

/** Plans the fields of a table. The notes name the columns that it leaves out or declares differently. */
export async function planFields (
  { table, column: keyColumn, key }: KeyedTable, handle: Handle, targetOf: Setting['targetOf']
): Promise<{ readonly fields: readonly FieldPlan[], readonly notes: readonly Note[] }> {
  const notes: Note[] = []
  const names = new Names()
  names.take('id')
  const columns = new Set([keyColumn.name.toLowerCase()])
  const setting: Setting = { handle, targetOf, key, checks: checkCompiler(), names, notes }
  const fields: FieldPlan[] = []
  for (const column of table.columns.filter((column) => column !== keyColumn)) {
    const isTaken = columns.has(column.name.toLowerCase())
    columns.add(column.name.toLowerCase())
    const field = isTaken
      ? 'has the name of another column but for its case'
      : await planField(column, table, setting)
    if (typeof field === 'string') notes.push({ table: table.name, column: column.name, why: `left out: it ${field}` })
    else fields.push(field)
  }
  return { fields, notes }
}

async function planField (column: ColumnRow, table: FoundTable, setting: Setting): Promise<FieldPlan | string> {
  const { handle, handle: { dialect: { catalog: { types }, storage } } } = setting
  if (!isPlainName(column.name)) return 'has a name that is not made of letters, digits and underscores, at most 60'
  const note = (why: string): void => { setting.notes.push({ table: table.name, column: column.name, why }) }
  if (isYes(column.computed)) return 'is computed by the database'
  const type = readType(column.type, column.written)
  const named = types[type.name]?.(type)
  if (named === undefined || !storage[named.kind].holds(column.type)) {
    return `is ${column.written}, which no kind of field holds`
  }
  const described = await heldType(handle, column, named)
  if (described === undefined) {
    return `is ${column.written}, but holds other values, which no kind of field holds all of`
  }
  const reference = await planReference(column, table, setting)
  const kind = reference === undefined ? kindOf(column, described) : 'foreignKey'
  const { options: { maxLength = hashLength } } = described
  if (kind === 'password' && maxLength < hashLength) {
    note(`has room for ${maxLength} characters, but a hash has ${hashLength}: widen it before the API writes it`)
  }
  if (described.loss !== undefined && reference === undefined) note(described.loss)
  const mayBeUnshown = reference === undefined && !isYes(column.nullable)
  const isUnshown = mayBeUnshown && await holdsUnshown(handle, column, described.kind)
  if (isUnshown) note(unshownNote)
  const plan = {
    name: nameFor(column.name, kind, setting.names),
    kind,
    options: {
      ...(reference === undefined && kind === described.kind && described.options),
      ...commonOptions(column, table, kind),
      ...(isUnshown && { nullable: true }),
      ...reference?.options
    },
    ...(reference !== undefined && { target: reference.target })
  }
  const complete = { ...plan, options: { ...plan.options, ...columnOption(plan, column) } }
  return withDefault(complete, { column, table, values: reference?.values ?? described.kind }, setting)
}

function kindOf ({ name }: ColumnRow, { kind }: DescribedType): FieldKind {
  return kind === 'text' && passwordName.test(name) ? 'password' : kind
}

function nameFor (column: string, kind: FieldKind, names: Names): string {
  return kind === 'foreignKey'
    ? names.take(referenceName(column), (name) => [`${name}_id`])
    : names.take(fieldName(column))
}

function columnOption ({ name, kind }: Pick<FieldPlan, 'name' | 'kind'>, column: ColumnRow): FieldOptions {
  return column.name === (kind === 'foreignKey' ? `${name}_id` : name) ? {} : { column: column.name }
}

function commonOptions (column: ColumnRow, { unique }: FoundTable, kind: FieldKind): FieldOptions {
  const isUnique = unique.has(column.name) && kind !== 'password' && kind !== 'json'
  return { ...(isYes(column.nullable) && { nullable: true }), ...(isUnique && { unique: true }) }
}

interface Source {
  readonly column: ColumnRow
  readonly table: FoundTable
  /** The kind of the values. For a foreign key, that of the primary key that it refers to. */
  readonly values: StorageName
}

/**
 * Adds the default of the column to a field, if the field can have it as a value. If the column cannot be a field at
 * all, it returns the reason.
 */
function withDefault (plan: FieldPlan, source: Source, setting: Setting): FieldPlan | string {
  const { column, table, values } = source
  const limited = withinUnique(plan)
  const fault = faultOf(limited, values, setting)
  if (fault !== undefined) return fault
  const value = plan.kind === 'password' ? undefined : defaultValue(values, column.declared)
  if (value === undefined) return limited
  if (value !== expression) {
    const complete = { ...limited, options: { ...limited.options, default: value } }
    if (faultOf(complete, values, setting) === undefined) return complete
  }
  const absent = plan.options.nullable === true ? 'null' : 'required'
  const why = `has the default ${String(column.declared)}, which is not taken over: ` +
    `on create it is ${absent} unless you declare one`
  setting.notes.push({ table: table.name, column: column.name, why })
  return limited
}

/** Drops a maximum length above that of unique texts, which the API limits to 500 characters in every engine. */
function withinUnique (plan: FieldPlan): FieldPlan {
  const { unique, maxLength = 0, ...options } = plan.options
  return unique === true && maxLength > maxUniqueLength ? { ...plan, options: { ...options, unique } } : plan
}

/** Returns the reason why a field cannot be declared, in the words of defineModel(). */
function faultOf (
  { name, kind, options }: FieldPlan, values: StorageName, { key, checks }: Setting
): string | undefined {
  // The target of a foreign key is not defined yet, so a field of its values is tested instead.
  const { onDelete, ...others } = options
  const field: Field = kind === 'foreignKey' ? { kind: values, options: others } : { kind, options }
  try {
    const { columns }: Model = defineModel('Model', { [key.name]: key, [name]: field })
    requireSoundDefaults('Model', columns, (column) => checks.ofValue(valueSchema(column)))
    return undefined
  } catch (error) {
    return `cannot be a field: ${(error as Error).message}`
  }
}
