import { join } from 'node:path'
import autoload from '@fastify/autoload'
import type { FastifyInstance } from 'fastify'

/**
 * A project as `fastify generate` lays it out: what `fastify start` runs (it insists on two parameters), and folders of
 * plugins and of resources.
 */
export default async function site (app: FastifyInstance, _options: object): Promise<void> {
  await app.register(autoload, { dir: join(import.meta.dirname, 'plugins') })
  await app.register(autoload, { dir: join(import.meta.dirname, 'resources') })
  await app.restModels.setup()
}
