import Fastify from 'fastify'
import restModels, { createTables, readOnlyAuth } from 'fastify-rest-models'
import { manyModels } from '../site/many-models.js'
import { openDatabase } from './open-database.js'
import { readArguments, serve } from './serve.js'

// Like an application that starts: it compares its models with existing tables.
const { database, durability, models: count } = readArguments()
const models = manyModels(count)
const db = await openDatabase(database, durability)
await createTables(db, models)

const app = Fastify()
await app.register(restModels, { db, defaultAuth: readOnlyAuth() })
for (const model of models) app.restModels.register(model)
await app.restModels.setup()
await serve(app)
