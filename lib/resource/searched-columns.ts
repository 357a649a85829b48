import { errors } from '../errors.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { suggestion } from '../suggest.js'
import { listed } from './named-columns.js'
import type { ResourceOptions } from './options.js'

/** Columns that the option `exclude` names, and names that the option `filterable` opens to filters. */
interface Hiding {
  readonly excluded: ReadonlySet<Column>
  readonly opened: ReadonlyMap<string, unknown>
}

/**
 * Returns the columns of the text fields that the option `search` of a resource lists; none if there is no such option.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD if the model lacks a field; REST_MODELS_INVALID_OPTIONS if a field is not of
 *   the kind text, is named twice, or is excluded and not opened by `filterable`, or if the option is no list or empty
 */
export function searchedColumns (
  model: Model, options: ResourceOptions, { excluded, opened }: Hiding
): readonly Column[] {
  if (options.search === undefined) return []
  const where = `'search' of resource '${model.name}'`
  const columns = listed(model, options, 'search').map((name) => searchedColumn(model, name, where))
  if (columns.length === 0) throw new errors.InvalidOptions(`${where} is empty: name text fields, or leave it out`)
  for (const [index, { field }] of columns.entries()) {
    if (columns.findIndex((column) => column.field === field) < index) {
      throw new errors.InvalidOptions(`${where} names '${field}' twice`)
    }
  }
  const hidden = columns.find((column) => excluded.has(column) && !opened.has(column.field))
  if (hidden !== undefined) {
    throw new errors.InvalidOptions(`${where} names '${hidden.field}', which is excluded: leave it out, ` +
      "or add it to 'filterable' if clients may find out its values")
  }
  return columns
}

function searchedColumn ({ columns, fields }: Model, name: string, where: string): Column {
  const column = columns.find(({ field }) => field === name)
  if (column === undefined) {
    throw new errors.UnknownOptionField(
      `${where} names '${name}', which is not a field of the model${suggestion(name, Object.keys(fields))}`)
  }
  if (column.kind === 'text') return column
  throw new errors.InvalidOptions(`${where} names '${name}', which is not a text field: only text() can be searched`)
}
