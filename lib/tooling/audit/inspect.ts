import { errors } from '../../errors.js'
import { ResourceRegistry } from '../../plugin/registry.js'
import type { Resource } from '../../resource/resource.js'
import type { Danger } from './danger.js'
import { dangersOf } from './dangers.js'
import { KeyLookups } from './key-lookups.js'
import { permissionsOf, type ResourcePermissions } from './permissions.js'
import { TableSizes } from './table-sizes.js'
import { unboundedOf, type Unbounded } from './unbounded.js'
import { unindexedOf, type Unindexed } from './unindexed.js'
import { visibleRecordsOf, type VisibleRecords } from './visible-records.js'

/** An app of Fastify with any server, logger and type provider. */
interface AnyApp {
  readonly server: object
  ready (): PromiseLike<unknown>
}

/** A report about an app: permissions, scopes, dangers, and lists that may be slow or large. */
export interface Inspection {
  readonly resources: readonly ResourcePermissions[]
  /**
   * The records that each scope shows to users with made-up properties: one row for each scope and sort of user (not
   * logged in, logged in, admin).
   */
  readonly scopes: readonly VisibleRecords[]
  readonly dangers: readonly Danger[]
  /** Filters, searches, orderings, related records and scopes that no index serves, the largest tables first. */
  readonly unindexed: readonly Unindexed[]
  readonly unbounded: readonly Unbounded[]
}

/**
 * Reports who may do what in an app with which records, and what of that is dangerous. Also reports the filters,
 * searches, orderings, related records and scopes that no index serves, and the texts in lists whose length the model
 * does not limit. It asks the database for query plans and counts rows, but writes nothing. It does not close the app.
 *
 * @param app  an app with the plugin, in any Fastify scopes and under any decorator names. The function calls its
 *   `ready()`
 * @throws REST_MODELS_INVALID_OPTIONS if the app has no resources
 */
export async function inspect (app: AnyApp): Promise<Inspection> {
  await app.ready()
  const resources = resourcesOf(app)
  const sizes = new TableSizes()
  const lookups = new KeyLookups()
  const unindexed: Unindexed[] = []
  for (const resource of resources) unindexed.push(...await unindexedOf(resource, sizes, lookups))
  return {
    resources: resources.map(permissionsOf),
    scopes: resources.flatMap(visibleRecordsOf),
    dangers: dangersOf(resources),
    unindexed: unindexed.sort((one, other) => other.rows - one.rows),
    unbounded: resources.flatMap(unboundedOf)
  }
}

function resourcesOf (app: AnyApp): readonly Resource[] {
  const found = ResourceRegistry.resourcesOf(app)
  if (found.length > 0) return found
  throw new errors.InvalidOptions('The app has no resources: register the plugin and models, and call setup()')
}
