import { openEngine, type AnyKysely } from '../../database/engine.js'
import type { Model } from '../../model/define-model.js'
import { defineModels } from './define-models.js'
import type { Note } from './model-plan.js'
import { planModels } from './plan-models.js'
import { writeModels } from './write-models.js'

/** The models of a database. */
export interface Introspection {
  /** A TypeScript file that defines them. */
  readonly source: string
  /** The same, defined already; each behind those that it refers to, as far as that can be. */
  readonly models: readonly Model[]
  /** What of the database they do not hold, and why. */
  readonly notes: readonly Note[]
}

export interface IntrospectOptions {
  /** Names of the tables to look at; all if absent. */
  readonly tables?: readonly string[]
}

/**
 * Makes models of the tables of a database, which is only read.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy; REST_MODELS_INVALID_OPTIONS if a table that is named does not exist
 */
export async function introspect (db: AnyKysely, { tables }: IntrospectOptions = {}): Promise<Introspection> {
  await openEngine(db)
  const plan = await planModels(db, tables)
  return {
    source: writeModels(plan),
    models: defineModels(plan.models),
    notes: [...plan.leftOut, ...plan.models.flatMap(({ notes }) => notes)]
  }
}
