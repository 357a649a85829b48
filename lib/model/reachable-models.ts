import type { Model } from './model.js'

/** Returns the given models, and all models that their foreign keys lead to, directly or through others. */
export function reachableModels (models: Iterable<Model>): ReadonlySet<Model> {
  const reached = new Set(models)
  for (const model of reached) {
    for (const { target } of model.columns) if (target !== undefined) reached.add(target())
  }
  return reached
}
