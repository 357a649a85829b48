import { spawnSync } from 'node:child_process'
import { engineNames, findEngine } from '../test/support/engines/find-engine.js'
import { createDatabase } from '../test/support/engines/test-database.js'

/**
 * on-engine.ts ENGINE COMMAND...: runs a command with DATABASE_URL set to a new database of the engine, which is
 * dropped afterwards.
 */
const [name, command = '', ...args] = process.argv.slice(2)

const engine = engineNames.find((known) => known === name)
if (engine === undefined) throw new Error(`ENGINE is one of ${engineNames.join(', ')}`)
const found = await findEngine(engine)
if (found.url === undefined) throw new Error(`${engine}: ${found.why}`)
const { url, drop } = await createDatabase(found.url)
const { status } = spawnSync(command, args, { env: { ...process.env, DATABASE_URL: url }, stdio: 'inherit' })
await drop()
await found.stop()
process.exitCode = status ?? 1
