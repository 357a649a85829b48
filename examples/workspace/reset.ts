import { removeTables } from '../site/database.js'
import { buildWorkspace } from './app.js'
import { models } from './models.js'

const { DATABASE_URL = 'sqlite:./workspace.db' } = process.env

await removeTables(DATABASE_URL, models)
const app = await buildWorkspace(DATABASE_URL)
await app.close()
console.log('The database of the example workspace is new again')
