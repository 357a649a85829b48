import { checkCompiler } from '../../../schemas/check.js'
import type { Handle } from '../../database/engine.js'
import { isYes, type ColumnRow } from '../../engines/catalog.js'
import { describedAs, type DescribedType } from '../../engines/described-types.js'
import type { FieldKind } from '../../fields/field-kinds.js'
import { isSqlName } from '../../model/check-options.js'
import type { FieldOptions } from '../../values/field-options.js'
import { optionsOf } from './checked-options.js'
import { withDefault, type DefaultSetting, type Source } from './field-default.js'
import { heldType, holdsUnshown } from './held-values.js'
import type { FieldPlan, Note } from './model-plan.js'
import { fieldName, nameFor, Names, type NameSetting } from './names.js'
import type { KeyedTable, PlannedTable } from './plan-keys.js'
import { planReference, type ReferenceSetting } from './plan-reference.js'
import { columnOf } from './plan-unique.js'
import type { FoundTable } from './read-database.js'
import { oddName, renameColumn } from './remedies.js'

/**
 * Names of text columns that hold stored passwords, in lower case and without `_`. Such a column becomes a password
 * field: nobody may filter by it, and what clients write is hashed.
 */
const passwordNames = new Set([
  'password', 'passwd', 'pwd', 'passwordhash', 'passwordhashed', 'hashedpassword', 'passwordencrypted',
  'encryptedpassword', 'cryptedpassword', 'passworddigest', 'passwdhash', 'pwdhash', 'userpass', 'userpassword'
])

/** Characters of a hash from hashPassword(). */
const hashLength = 97

/** Note about a column that becomes nullable because of its values. */
const unshownNote = 'holds values that no record can show, such as infinity, a zero date or a date before our ' +
  'era, and is nullable: they are shown as null'

/** Context for planning the fields of a table: database, targets of foreign keys, primary key, checks and notes. */
type Setting = ReferenceSetting & DefaultSetting

/**
 * Plans the fields of a table, in the order of its columns. The given `column`, a primary key of one column, is not
 * among them. The notes name the columns that are left out or declared differently.
 */
export async function planFields (
  { table, column: keyColumn, key }: PlannedTable & Partial<Pick<KeyedTable, 'column' | 'key'>>, handle: Handle,
  targetOf: Setting['targetOf']
): Promise<{ readonly fields: readonly FieldPlan[], readonly notes: readonly Note[] }> {
  const notes: Note[] = []
  const setting: Setting = { handle, targetOf, key, checks: checkCompiler(), notes }
  const planned = await planColumns(table, keyColumn, setting)
  const references = planned.filter(isReference)
  const naming = { names: new Names(), references: references.map(({ source }) => source.column.name) }
  naming.names.take('id')
  // So no column loses its name to another one, whatever their order.
  const fields = planned.toSorted((one, other) => rankOf(one) - rankOf(other))
    .flatMap((plan) => orNote(complete(plan, setting, naming), plan.source.column, notes))
  const place = (column?: string): number => table.columns.findIndex(({ name }) => name === column)
  return {
    fields: fields.toSorted((one, other) => place(columnOf(one)) - place(columnOf(other))),
    notes: notes.toSorted((one, other) => place(one.column) - place(other.column))
  }
}

/** A field to declare, before it has a name. */
type UnnamedField = Omit<FieldPlan, 'name'>

interface PlannedColumn {
  readonly field: UnnamedField
  readonly source: Source
}

function isReference ({ field }: PlannedColumn): boolean {
  return field.kind === 'foreignKey'
}

/** Returns the place of a column in the order of naming: 0 if it keeps its name, 1 if not, 2 for a foreign key. */
function rankOf (plan: PlannedColumn): 0 | 1 | 2 {
  const { name } = plan.source.column
  return isReference(plan) ? 2 : fieldName(name) === name ? 0 : 1
}

/** Plans the columns of a table except `keyColumn`. Adds notes about those left out or declared differently. */
async function planColumns (
  table: FoundTable, keyColumn: ColumnRow | undefined, setting: Setting
): Promise<readonly PlannedColumn[]> {
  const names = new Set(keyColumn === undefined ? [] : [keyColumn.name.toLowerCase()])
  const planned: PlannedColumn[] = []
  for (const column of table.columns.filter((column) => column !== keyColumn)) {
    const isTaken = names.has(column.name.toLowerCase())
    names.add(column.name.toLowerCase())
    const plan = isTaken
      ? 'has the same name as another column, except for its case; rename it'
      : await planColumn(column, table, setting)
    planned.push(...orNote(plan, column, setting.notes))
  }
  return planned
}

/** Returns a plan as a list of one. If `plan` is the reason why there is none, adds a note and returns no items. */
function orNote<Plan extends object> (plan: Plan | string, { table, name }: ColumnRow, notes: Note[]): Plan[] {
  if (typeof plan !== 'string') return [plan]
  notes.push({ table, column: name, why: `left out: it ${plan}` })
  return []
}

/** Plans the field of a column, or returns the reason why there is none. */
async function planColumn (column: ColumnRow, table: FoundTable, setting: Setting): Promise<PlannedColumn | string> {
  const described = await describe(column, setting.handle)
  if (typeof described === 'string') return described
  const reference = await planReference(column, table, setting)
  if (reference === undefined) {
    const field = await planValue(described, { column, table }, setting)
    return { field, source: { column, values: described.kind } }
  }
  const { target, values } = reference
  const options = { ...commonOptions(column, table, 'foreignKey'), ...reference.options }
  return { field: { kind: 'foreignKey', options, target }, source: { column, values } }
}

/** Returns the type that holds all values of a column, or the reason why the column cannot be a field. */
async function describe (column: ColumnRow, handle: Handle): Promise<DescribedType | string> {
  const { dialect: { catalog, storage } } = handle
  if (!isSqlName(column.name)) return `has a name ${oddName}; ${renameColumn}`
  const named = describedAs(catalog, column)
  if (named === undefined || !storage[named.kind].holds(column.type)) {
    return `is ${column.written}, for which there is no kind of field; ${remedyFor(column)}`
  }
  return await heldType(handle, column, named) ?? (column.written === ''
    ? `has no type, and no kind of field fits all of its values; ${remedyFor(column)}`
    : `is ${column.written}, but holds other values too, and no kind of field fits all of them; ${remedyFor(column)}`)
}

/** Remedies for columns of types that no field can hold. */
const remedies: ReadonlyArray<readonly [types: RegExp, remedy: string]> = [
  [/^year\(2\)$/, 'change its type to year(4)'], [/blob|binary|bytea|image/i, 'serve its bytes by a route of your own']
]

/** Returns the remedy for a column whose values no field can hold: mostly another way to show the values. */
function remedyFor ({ written }: ColumnRow): string {
  const [, remedy] = remedies.find(([types]) => types.test(written)) ?? []
  return remedy ?? 'a generated column or a view can show it as text or JSON'
}

interface TableColumn {
  readonly column: ColumnRow
  readonly table: FoundTable
}

/**
 * Plans the field of a column that is not a foreign key. Adds notes about values that the field cannot hold or show.
 */
async function planValue (
  described: DescribedType, { column, table }: TableColumn, { handle, notes }: Setting
): Promise<UnnamedField> {
  const note = (why: string): void => { notes.push({ table: table.name, column: column.name, why }) }
  const kind = kindOf(column, described)
  const { options: { maxLength = hashLength }, loss } = described
  if (kind === 'password' && maxLength < hashLength) {
    note(`has room for ${maxLength} characters, but a hash has ${hashLength}: widen it before the API writes it`)
  }
  if (loss !== undefined) note(loss)
  const isUnshown = !isYes(column.nullable) && await holdsUnshown(handle, column, described.kind)
  if (isUnshown) note(unshownNote)
  return {
    kind,
    options: {
      ...(kind === described.kind && optionsOf(described, table.checked.get(column.name))),
      ...commonOptions(column, table, kind),
      ...(isUnshown && { nullable: true })
    }
  }
}

/** Returns a field with its name and the default of its column, or the reason why the column cannot be a field. */
function complete ({ field, source }: PlannedColumn, setting: Setting, naming: NameSetting): FieldPlan | string {
  const { column } = source
  const { name, options: named } = nameFor(column.name, field.kind, naming)
  const filled = isFilled(column, field.kind) && { readOnly: true }
  const options = { ...field.options, ...named, ...filled }
  return withDefault({ ...field, name, options }, source, setting)
}

/** Matches defaults that make a UUID. */
const uuidDefault = /^\(?(?:\w+\.)?(?:gen_random_uuid|uuid_generate_v[14](?:mc)?|uuidv[47]|uuid)\(\)\)?$/i

/**
 * True if a field becomes read-only because the database gives its column the values: it computes them, or makes a
 * number or a UUID for each row. A new UUID refers to no record, so a foreign key with such a default stays writable.
 */
function isFilled ({ computed, generated, declared }: ColumnRow, kind: FieldKind): boolean {
  if (isYes(computed)) return true
  if (kind === 'password') return false
  return isYes(generated) || (kind !== 'foreignKey' && uuidDefault.test(declared ?? ''))
}

function kindOf ({ name }: ColumnRow, { kind }: DescribedType): FieldKind {
  return kind === 'text' && passwordNames.has(name.toLowerCase().replaceAll('_', '')) ? 'password' : kind
}

function commonOptions (column: ColumnRow, { unique }: FoundTable, kind: FieldKind): FieldOptions {
  const isUnique = unique.has(column.name) && kind !== 'password' && kind !== 'json'
  return { ...(isYes(column.nullable) && { nullable: true }), ...(isUnique && { unique: true }) }
}
