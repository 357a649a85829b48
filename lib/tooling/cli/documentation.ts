import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import { importModule } from './import-module.js'
import { isMissing } from './open-database.js'

export const documentationPath = '/documentation'

/** What imports the packages that make a page of the routes, which may not be installed. */
export interface DocumentationPackages {
  swagger (): Promise<{ readonly default: unknown }>
  swaggerUi (): Promise<{ readonly default: unknown }>
}

const installed: DocumentationPackages = {
  swagger: async () => await importModule<typeof import('@fastify/swagger')>('@fastify/swagger'),
  swaggerUi: async () => await importModule<typeof import('@fastify/swagger-ui')>('@fastify/swagger-ui')
}

/** What shall be documented, and by what. */
interface Setting {
  /** Whether routes that write are shown. */
  readonly write: boolean
  readonly packages?: DocumentationPackages | undefined
}

/**
 * Adds a page that documents the routes to come.
 *
 * @returns undefined, or the packages that have to be installed for it
 */
export async function addDocumentation (app: FastifyInstance, { write, packages: { swagger, swaggerUi } = installed }: Setting): Promise<readonly string[]> {
  const found = await Promise.all([load('@fastify/swagger', swagger), load('@fastify/swagger-ui', swaggerUi)])
  const missing = found.filter((plugin) => typeof plugin === 'string')
  const [documents, page] = found as readonly [Plugin, Plugin]
  if (missing.length > 0) return missing
  await app.register(documents, { openapi: { openapi: '3.1.0', info: { title: 'REST API', version: '1' } }, ...(!write && { transformObject: withoutWrites }) })
  await app.register(page, { routePrefix: documentationPath })
  return []
}

/** What nobody may do is not shown. */
function withoutWrites ({ openapiObject }: { readonly openapiObject: { readonly paths: Readonly<Record<string, { readonly get?: object }>> } }): object {
  const paths = Object.fromEntries(Object.entries(openapiObject.paths).map(([path, { get }]) => [path, { get }]))
  return { ...openapiObject, paths }
}

type Plugin = FastifyPluginCallback<Record<string, unknown>>

/** The plugin of a package, or the package's name if it is not there. */
async function load (name: string, load: () => Promise<{ readonly default: unknown }>): Promise<unknown> {
  try {
    return (await load()).default
  } catch (error) {
    if (isMissing(error, name)) return name
    throw error
  }
}
