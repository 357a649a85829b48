import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import restModels, { createTables } from 'fastify-rest-models'
import { openDatabase } from '../site/database.js'
import { addDocumentation } from '../site/documentation.js'
import { drainOnClose } from '../site/drain.js'
import { models } from './models.js'
import { registerResources } from './resources.js'
import { forbidOwnCompany } from './rules.js'
import { accounts, seedOnce, type WorkspaceTables } from './seed.js'

const description = `
Task management for several companies on one database. Members see their own company, and admins see all of them.

**Authorize** as \`art\` with the password \`art\`, open **GET /api/task/**, and **Execute**: it lists the tasks of Acme.
As \`gil\` it lists those of Globex. **GET /api/project/4/** is 200 for gil and 404 for art.

Each account's password is its name: ${accounts}.
`

/** Builds the workspace on the database of a URL. A new database gets tables and data. It is closed with the app. */
export async function buildWorkspace (
  databaseUrl: string, options: FastifyServerOptions = {}
): Promise<FastifyInstance> {
  const db = await openDatabase<WorkspaceTables>(databaseUrl)
  await createTables(db, models)
  await seedOnce(db)

  const app = Fastify(options)
  drainOnClose(app)
  app.addHook('onClose', async () => await db.destroy())
  await addDocumentation(app, { title: 'The example workspace', description })
  app.setErrorHandler(forbidOwnCompany)
  await app.register(restModels, { db })
  registerResources(app.restModels)
  await app.restModels.setup()
  return app
}
