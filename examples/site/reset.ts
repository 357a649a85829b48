import { rmSync } from 'node:fs'
import { buildSite } from './app.js'
import { sqlitePath } from './database.js'

const { DATABASE_URL = 'sqlite:./site.db' } = process.env

for (const suffix of ['', '-wal', '-shm']) rmSync(`${sqlitePath(DATABASE_URL)}${suffix}`, { force: true })
const app = await buildSite(DATABASE_URL)
await app.close()
console.log(`${DATABASE_URL} is new again`)
