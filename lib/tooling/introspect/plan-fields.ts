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

/** Texts under these names are taken for stored passwords, which nobody may filter by, and which are hashed when they are written. */
const passwordName = /^(?:password|passwd|pwd|pass_?word_?hash|hashed_?password)$/i

/** Characters of a hash, as hashPassword() makes it. */
const hashLength = 97

/** What planning a column needs to know of the others. */
interface Setting extends ReferenceSetting {
  /** The primary key of the table itself. */
  readonly key: FieldPlan
  readonly checks: CheckCompiler
  readonly names: Names
}

/** The fields of a table, and what could not be said by them. */
export async function planFields ({ table, column: keyColumn, key }: KeyedTable, handle: Handle, targetOf: Setting['targetOf']): Promise<{ readonly fields: readonly FieldPlan[], readonly notes: readonly Note[] }> {
  const notes: Note[] = []
  const names = new Names()
  names.take('id')
  const columns = new Set([keyColumn.name.toLowerCase()])
  const setting: Setting = { handle, targetOf, key, checks: checkCompiler(), names, notes }
  const fields: FieldPlan[] = []
  for (const column of table.columns.filter((column) => column !== keyColumn)) {
    const isTaken = columns.has(column.name.toLowerCase())
    columns.add(column.name.toLowerCase())
    const field = isTaken ? 'has the name of another column but for its case' : await planField(column, table, setting)
    if (typeof field === 'string') notes.push({ table: table.name, column: column.name, why: `left out: it ${field}` })
    else fields.push(field)
  }
  return { fields, notes }
}

async function planField (column: ColumnRow, table: FoundTable, setting: Setting): Promise<FieldPlan | string> {
  const { handle, handle: { dialect: { catalog: { types }, storage } } } = setting
  if (!isPlainName(column.name)) return 'has a name that is not made of letters, digits and underscores, at most 60'
  if (isYes(column.computed)) return 'is computed by the database'
  const type = readType(column.type, column.written)
  const named = types[type.name]?.(type)
  if (named === undefined || !storage[named.kind].holds(column.type)) return `is ${column.written}, which no kind of field holds`
  const described = await heldType(handle, column, named)
  if (described === undefined) return `is ${column.written}, but holds other values, which no kind of field holds all of`
  const reference = await planReference(column, table, setting)
  const kind = reference === undefined ? kindOf(column, described) : 'foreignKey'
  const { options: { maxLength = hashLength } } = described
  if (kind === 'password' && maxLength < hashLength) setting.notes.push({ table: table.name, column: column.name, why: `has room for ${maxLength} characters, but a hash has ${hashLength}: widen it before the API writes it` })
  if (described.loss !== undefined && reference === undefined) setting.notes.push({ table: table.name, column: column.name, why: described.loss })
  const isUnshown = reference === undefined && !isYes(column.nullable) && await holdsUnshown(handle, column, described.kind)
  if (isUnshown) setting.notes.push({ table: table.name, column: column.name, why: 'holds values that no record can show, such as infinity or a date before our era, and is nullable: they are shown as null' })
  const plan = {
    name: nameFor(column.name, kind, setting.names),
    kind,
    options: { ...(reference === undefined && kind === described.kind && described.options), ...commonOptions(column, table, kind), ...(isUnshown && { nullable: true }), ...reference?.options },
    ...(reference !== undefined && { target: reference.target })
  }
  return withDefault({ ...plan, options: { ...plan.options, ...columnOption(plan, column) } }, { column, table, values: reference?.values ?? described.kind }, setting)
}

function kindOf ({ name }: ColumnRow, { kind }: DescribedType): FieldKind {
  return kind === 'text' && passwordName.test(name) ? 'password' : kind
}

function nameFor (column: string, kind: FieldKind, names: Names): string {
  return kind === 'foreignKey' ? names.take(referenceName(column), (name) => [`${name}_id`]) : names.take(fieldName(column))
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
  /** What the values are, those of a foreign key as well. */
  readonly values: StorageName
}

/** The field with the default of its column, if that is a value which the field can hold; or why it cannot be a field at all. */
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
  setting.notes.push({ table: table.name, column: column.name, why: `has the default ${String(column.declared)}, which is not taken over: on create it is ${plan.options.nullable === true ? 'null' : 'required'} unless you declare one` })
  return limited
}

/** A unique text of the API has at most so many characters, whatever the column has. */
function withinUnique (plan: FieldPlan): FieldPlan {
  const { unique, maxLength = 0, ...options } = plan.options
  return unique === true && maxLength > maxUniqueLength ? { ...plan, options: { ...options, unique } } : plan
}

/** Why a field cannot be declared, in the words of defineModel(). */
function faultOf ({ name, kind, options }: FieldPlan, values: StorageName, { key, checks }: Setting): string | undefined {
  // The model of a foreign key is not defined yet: its values stand for it.
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
