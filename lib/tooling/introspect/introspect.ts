import { openEngine, type AnyKysely } from '../../database/engine.js'
import type { Model } from '../../model/define-model.js'
import { requireKnown } from '../../suggest.js'
import { defineModels } from './define-models.js'
import type { Note } from './model-plan.js'
import { planModels } from './plan-models.js'
import { writeModels, type Language } from './write-models.js'

/** The models of a database, and notes about the parts that they leave out. */
export interface Introspection {
  /** The text of a file that defines the models, in the language of the options. */
  readonly source: string
  /** The models, already defined. Each comes after those that it refers to, except in a circle of references. */
  readonly models: readonly Model[]
  /** Parts of the database that the models leave out or declare differently, with the reasons. */
  readonly notes: readonly Note[]
}

export interface IntrospectOptions {
  /** Names of the tables to read. Default: all tables. */
  readonly tables?: readonly string[]
  /** Language of `source`. Default: `typescript`. */
  readonly language?: Language
}

/**
 * Makes models of the tables of a database. It only reads the database.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy; REST_MODELS_INVALID_OPTIONS if a named table does not
 *   exist, or an option is unknown
 */
export async function introspect (db: AnyKysely, options: IntrospectOptions = {}): Promise<Introspection> {
  requireKnown<IntrospectOptions>('introspect()', options, { tables: true, language: true })
  const { tables, language = 'typescript' } = options
  await openEngine(db)
  const plan = await planModels(db, tables)
  return {
    source: writeModels(plan, language),
    models: defineModels(plan.models),
    notes: [...plan.leftOut, ...plan.models.flatMap(({ notes }) => notes)]
  }
}
