import { maxTextsLength, needsLength, uniqueFault, withUniqueLengths } from '../../model/unique-together.js'
import type { FieldPlan, ModelPlan, Note } from './model-plan.js'
import type { FoundTable } from './read-database.js'

/** Fields whose columns have a unique index together. */
type Group = readonly FieldPlan[]

/**
 * Plans the option `unique` of a model: an entry for each unique index of several columns that all have fields, but
 * only one for several indexes of the same columns. Texts that share an index get a `maxLength` if they have none,
 * so that every engine has room for them. Notes name the indexes that no model can declare.
 */
export function planUnique (
  { name, uniqueTogether }: FoundTable, planned: readonly FieldPlan[]
): Pick<ModelPlan, 'fields' | 'unique' | 'notes'> {
  const groups = groupsOf(uniqueTogether, planned)
  const fields = planned.map((field) => withLength(field, groups))
  const byName = Object.fromEntries(fields.map((field) => [field.name, field]))
  const unique: Array<readonly string[]> = []
  const notes: Note[] = []
  for (const group of groups) {
    const names = group.map((field) => field.name)
    const fault = uniqueFault(withUniqueLengths(byName, [names]), names)
    if (fault === undefined) unique.push(names)
    else notes.push(noteOf(name, group.map(columnOf), fault))
  }
  return { fields, unique, notes }
}

/** Returns the fields of each unique index whose columns all have fields, once for each set of columns. */
function groupsOf (indexes: FoundTable['uniqueTogether'], fields: readonly FieldPlan[]): readonly Group[] {
  const byColumn = new Map(fields.map((field) => [columnOf(field), field]))
  const sets = new Map(indexes.map((columns) => [columns.toSorted().join(), columns]))
  return [...sets.values()].flatMap((columns) => {
    const group = columns.flatMap((column) => byColumn.get(column) ?? [])
    return group.length === columns.length ? [group] : []
  })
}

/**
 * Returns the name of a field's column: the option `column`, or else the field's name. Without `column`, a foreign key
 * has the name in its option `key`, or else the field's name with `_id`.
 */
export function columnOf ({ name, kind, options }: FieldPlan): string {
  return options.column ?? (kind === 'foreignKey' ? options.key ?? `${name}_id` : name)
}

/**
 * Gives a text without `maxLength` that shares an index with other texts an equal part of {@link maxTextsLength}. Of
 * several such indexes, the one with the most texts counts. Returns any other field unchanged.
 */
function withLength (field: FieldPlan, groups: readonly Group[]): FieldPlan {
  if (!needsLength(field)) return field
  const counts = groups.filter((group) => group.includes(field))
    .map((group) => group.filter(({ kind }) => kind === 'text').length)
  const count = Math.max(1, ...counts)
  if (count === 1) return field
  return { ...field, options: { ...field.options, maxLength: Math.floor(maxTextsLength / count) } }
}

function noteOf (table: string, columns: readonly string[], fault: string): Note {
  const why = `is unique together with ${columns.slice(1).join(', ')}, which the model does not declare: ${fault}`
  return { table, column: String(columns[0]), why }
}
