import { operators } from '../fields/operators.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { followPath, splitName } from '../plan/path.js'
import { isPlainObject } from '../plan/plan-scope.js'
import { sampleValues } from '../plan/sample.js'
import { placeholderName } from './made-up-users.js'

/**
 * Returns the object that a scope returned for a made-up user, with a valid value in place of each placeholder. A
 * placeholder stands for a property of the user whose type is not known ({@link placeholderName}), so a condition would
 * refuse it as a value of a wrong type. Returns anything else, such as a promise, unchanged.
 */
export function withTypedValues (model: Model, given: unknown): unknown {
  if (!isPlainObject(given)) return given
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, typedValue(model, name, value)]))
}

function typedValue (model: Model, name: string, value: unknown): unknown {
  const { names, operator } = splitName(name)
  const column = followPath(model, names)?.column
  if (column === undefined) return value
  const { syntax } = operators[operator]
  if (syntax === 'pattern') return value instanceof String ? String(value) : value
  if (Array.isArray(value)) return value.map((item) => withoutPlaceholder(column, item))
  const typed = withoutPlaceholder(column, value)
  return syntax === 'list' && typed !== value ? [typed] : typed
}

function withoutPlaceholder (column: Column, value: unknown): unknown {
  return placeholderName(value) === undefined ? value : sampleValues(column)[0]
}
