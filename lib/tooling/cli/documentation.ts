import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import { isMissing } from '../../engines/load-driver.js'
import { importModule } from './import-module.js'

export const documentationPath = '/documentation'

/** Functions that import the packages for a page of documentation. They reject if the package is not installed. */
export interface DocumentationPackages {
  swagger (): Promise<{ readonly default: unknown }>
  swaggerUi (): Promise<{ readonly default: unknown }>
}

const installedPackages: DocumentationPackages = {
  swagger: async () => await importModule<typeof import('@fastify/swagger')>('@fastify/swagger'),
  swaggerUi: async () => await importModule<typeof import('@fastify/swagger-ui')>('@fastify/swagger-ui')
}

/**
 * Adds a page at {@link documentationPath} that documents the routes that the app registers afterwards.
 *
 * @returns the names of packages that are not installed. If there are none, the page was added; otherwise it was not
 */
export async function addDocumentation (
  app: FastifyInstance, { swagger, swaggerUi }: DocumentationPackages = installedPackages
): Promise<readonly string[]> {
  const found = await Promise.all([load('@fastify/swagger', swagger), load('@fastify/swagger-ui', swaggerUi)])
  const missing = found.filter((plugin) => typeof plugin === 'string')
  const [documents, page] = found as readonly [Plugin, Plugin]
  if (missing.length > 0) return missing
  await app.register(documents, { openapi: { openapi: '3.1.0', info: { title: 'REST API', version: '1' } } })
  await app.register(page, { routePrefix: documentationPath })
  return []
}

type Plugin = FastifyPluginCallback<Record<string, unknown>>

/** Returns the plugin of a package, or the name of the package if it is not installed. */
async function load (name: string, load: () => Promise<{ readonly default: unknown }>): Promise<unknown> {
  try {
    return (await load()).default
  } catch (error) {
    if (isMissing(error, name)) return name
    throw error
  }
}
