import { startPostgres } from '../support/engines/postgres-server.js'

/** Starts a server and does not stop it. */
const { child, folder } = await startPostgres()
process.send?.([child.pid, folder])
setInterval(() => {}, 1000)
