import { defineModel } from '../../model/define-model.js'
import type { Field, FieldSet, ForeignKeyField, Model } from '../../model/model.js'
import { valueAt } from '../../values/lookup.js'
import type { FieldPlan, ModelPlan } from './model-plan.js'

/** Returns a model, made by {@link defineModel}, for each plan, in the order of the plans. */
export function defineModels (plans: readonly ModelPlan[]): readonly Model[] {
  const byTable = new Map<string, Model>()
  const fieldOf = ({ kind, options, target }: FieldPlan): Field | ForeignKeyField =>
    target === undefined
      ? { kind, options }
      : { kind: 'foreignKey', options, target: () => valueAt(byTable, target) }
  for (const { name, table, key, keyFields, fields, unique } of plans) {
    const all: FieldSet = Object.fromEntries(
      [...key === undefined ? [] : [key], ...fields].map((plan) => [plan.name, fieldOf(plan)]))
    byTable.set(table, defineModel(name, all, { table, unique, ...keyFields.length > 0 && { key: keyFields } }))
  }
  return [...byTable.values()]
}
