import { plain, recordDocumentation, type JsonSchema } from '../../schemas/documentation.js'
import { isForeignKey, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { withId } from '../model/key.js'
import type { ShownModel } from '../plan/permitted-includes.js'
import type { Resource } from '../resource/resource.js'
import { valueAt } from '../values/lookup.js'
import { shareCircular, shareSchema, type OpenApiDocument } from './document.js'

/**
 * Returns the name of a resource in names of schemas and ids of operations, with a capital letter: the name of the
 * model, or that of the resource if the option `path` sets another.
 */
export function titleOf ({ name, model }: { readonly name: string, readonly model: Model }): string {
  if (name === model.name.toLowerCase()) return model.name.charAt(0).toUpperCase() + model.name.slice(1)
  return name.split(/[-_]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** A document, and the models with what `include` shows of their records inside other records. */
interface Setting {
  readonly document: OpenApiDocument
  readonly shown: Resource['shown']
  /**
   * True if records in the document show related records. False if a limit permits no joins, so `include` is of no use.
   */
  readonly hasIncludes: boolean
}

/**
 * Adds the schema of a resource's records to the document, and returns a reference to it. The schema also has the
 * related records that `include` may add to a record.
 */
export function shareRecord (document: OpenApiDocument, resource: Resource): JsonSchema {
  const { name, model, visible, shown, limits: { joins, totalJoins } } = resource
  const setting = { document, shown, hasIncludes: Math.min(joins, totalJoins) > 0 }
  const isFirst = shown.get(model)?.name === name
  return isFirst
    ? shareModel(setting, model)
    : shareSchema(document, titleOf(resource), recordOf(setting, withId(model, visible)))
}

/**
 * The `$ref` of each model, for each document. The key is the object with the schemas of the document. A schema in a
 * circle refers to itself, so its `$ref` is needed before it is complete. Without this map, a schema would be made once
 * for each path of foreign keys that leads to it, and each further key may double their number.
 */
const sharedModels = new WeakMap<object, Map<ShownModel, JsonSchema>>()

function shareModel (setting: Setting, model: Model): JsonSchema {
  const { document, shown, hasIncludes } = setting
  const { components: { schemas } } = document
  const known = sharedModels.get(schemas) ?? new Map<ShownModel, JsonSchema>()
  sharedModels.set(schemas, known)
  const first = valueAt(shown, model)
  const found = known.get(first)
  if (found !== undefined) return found
  const title = titleOf({ name: first.name, model })
  const reference = hasIncludes && isInCircle(shown, model)
    ? shareCircular(document, title, (own) => {
      known.set(first, own)
      return recordOf(setting, first.visible)
    })
    : shareSchema(document, title, recordOf(setting, first.visible))
  known.set(first, reference)
  return reference
}

/** True if foreign keys that `include` may follow lead from a model back to it. */
function isInCircle (shown: Resource['shown'], model: Model): boolean {
  const reached = new Set(targetsOf(shown, model))
  // A set that grows while it is iterated over yields the new models, too.
  for (const target of reached) for (const next of targetsOf(shown, target)) reached.add(next)
  return reached.has(model)
}

function targetsOf (shown: Resource['shown'], model: Model): readonly Model[] {
  return referencesOf(shown, valueAt(shown, model).visible).map(({ target }) => target())
}

/** Returns those of the columns that are foreign keys to models whose records somebody may include. */
function referencesOf (shown: Resource['shown'], visible: readonly Column[]): readonly ForeignKeyColumn[] {
  return visible.filter(isForeignKey).filter(({ target }) => shown.get(target())?.isListed)
}

function recordOf (setting: Setting, visible: readonly Column[]): JsonSchema {
  const documented = recordDocumentation(visible)
  if (!setting.hasIncludes) return documented
  const references = new Set<Column>(referencesOf(setting.shown, visible))
  const properties = visible.flatMap((column) => {
    const { [column.key]: own } = documented['properties'] as Readonly<Record<string, JsonSchema>>
    const related = isForeignKey(column) && references.has(column) ? [[column.field, relatedTo(setting, column)]] : []
    return [[column.key, own], ...related]
  })
  return plain({ ...documented, properties: Object.fromEntries(properties) })
}

function relatedTo (setting: Setting, { key, target }: ForeignKeyColumn): JsonSchema {
  return {
    anyOf: [shareModel(setting, target()), { type: 'null' }],
    description: `Record of \`${key}\`, if \`include\` names it`
  }
}
