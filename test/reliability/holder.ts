import { once } from 'node:events'
import Database from 'better-sqlite3'

/** Holds the write lock of a database, for a time or until it is told to let go. */
const [path = '', milliseconds = ''] = process.argv.slice(2)
const database = new Database(path)
database.exec('begin immediate')
process.send?.('held')
if (milliseconds === '') await once(process, 'message')
else await new Promise((resolve) => { setTimeout(resolve, Number(milliseconds)) })
database.exec('rollback')
database.close()
process.send?.('released')
process.disconnect()
