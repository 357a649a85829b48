import { buildSite } from './app.js'
import { removeTables } from './database.js'
import { models } from './models.js'

const { DATABASE_URL = 'sqlite:./site.db' } = process.env

await removeTables(DATABASE_URL, models)
const app = await buildSite(DATABASE_URL)
await app.close()
console.log('The database of the example site is new again')
