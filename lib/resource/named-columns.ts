import { errors } from '../errors.js'
import { isFilledByDatabase, isForeignKey, isSecret, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keyName } from '../model/model.js'
import { followPath, pathName, type Path } from '../plan/path.js'
import { writes } from '../policy/operations.js'
import type { AnyPolicy } from '../policy/policy.js'
import { suggestion } from '../suggest.js'
import type { ResourceOptions } from './options.js'

/**
 * Returns the columns of the fields that the option `exclude` or `readOnly` of a resource lists.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD if a name is no field of the model, or is the key `id`;
 *   REST_MODELS_INVALID_OPTIONS if the option is no list, or if `exclude` names a part of the key
 */
export function columnsNamed (
  model: Model, options: ResourceOptions, option: 'exclude' | 'readOnly'
): ReadonlySet<Column> {
  const columns = new Set(listed(model, options, option).map((name) => requireField(model, option, name)))
  const part = model.primaryKey.parts?.find((column) => columns.has(column))
  if (option === 'exclude' && part !== undefined) {
    throw new errors.InvalidOptions(`'exclude' of resource '${model.name}' names '${part.field}', ` +
      "which is part of the key, and so of the 'id' that records show: leave it out")
  }
  return columns
}

/**
 * Returns the names that an option of a resource lists; none if the option is absent.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if it is no list
 */
export function listed (
  model: Model, options: ResourceOptions, option: 'exclude' | 'readOnly' | 'filterable' | 'search'
): readonly string[] {
  const { [option]: names = [] } = options
  if (!Array.isArray(names)) {
    throw new errors.InvalidOptions(`'${option}' of resource '${model.name}' must be a list of names`)
  }
  return names
}

function requireField (model: Model, option: keyof ResourceOptions, name: string): Column {
  const column = model.columns.find((column) => column.field === name && column !== model.primaryKey)
  if (column !== undefined) return column
  const where = `'${option}' of resource '${model.name}' names '${name}'`
  throw new errors.UnknownOptionField(name === keyName
    ? `${where}, which is the key: every record shows it, and no update changes it`
    : `${where}, which is not a field of the model${suggestion(name, Object.keys(model.fields))}`)
}

/**
 * Returns the foreign key that the option `ownerField` names; undefined if there is no such option.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD if the model lacks the field; REST_MODELS_INVALID_OPTIONS if the field is no
 *   foreign key, if it refers to another model than that of the policy's users, if only the database fills it, or if
 *   the policy lets everybody write
 */
export function ownerOf (model: Model, name: string | undefined, policy: AnyPolicy): ForeignKeyColumn | undefined {
  if (name === undefined) return undefined
  const owner = requireField(model, 'ownerField', name)
  const where = `'ownerField' of resource '${model.name}'`
  if (isFilledByDatabase(owner)) {
    throw new errors.InvalidOptions(`${where} names '${name}', which is 'readOnly', so that the API cannot set it`)
  }
  if (!isForeignKey(owner)) throw new errors.InvalidOptions(`${where} names '${name}', which is not a foreign key`)
  if (policy.open.some((operation) => writes.includes(operation))) {
    throw new errors.InvalidOptions(`${where} needs a policy that knows who writes`)
  }
  if (policy.users !== undefined && owner.target() !== policy.users) {
    throw new errors.InvalidOptions(
      `${where} names '${name}', which refers to model '${owner.target().name}', ` +
      `but the policy's users are model '${policy.users.name}'`)
  }
  return owner
}

/**
 * Returns the paths that the option `filterable` of a resource lists, by their names as {@link pathName} writes them.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD if a path leads to no field; REST_MODELS_INVALID_OPTIONS if the option is no
 *   list, or if a path leads to a password
 */
export function openedPaths (model: Model, options: ResourceOptions): ReadonlyMap<string, Path> {
  return new Map(listed(model, options, 'filterable').map((path) => openedPath(model, path)))
}

function openedPath (model: Model, written: string): readonly [name: string, path: Path] {
  const names = written.split('__')
  const path = followPath(model, names)
  const where = `'filterable' of resource '${model.name}' names '${written}'`
  if (path === undefined) {
    throw new errors.UnknownOptionField(`${where}, which leads to no field${stepSuggestion(model, names)}`)
  }
  if (isSecret(path.column)) throw new errors.InvalidOptions(`${where}: a password can never be filtered by`)
  return [pathName(path), path]
}

/**
 * Returns the {@link suggestion} for the first name of a path that is no field; an empty text if the path goes on after
 * a field that is no foreign key.
 */
function stepSuggestion (model: Model, [name = '', ...rest]: readonly string[]): string {
  const column = model.byName.get(name)
  if (column === undefined) return suggestion(name, Object.keys(model.fields))
  return isForeignKey(column) ? stepSuggestion(column.target(), rest) : ''
}
