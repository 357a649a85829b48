import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateServer } from '../support/engines/private-server.js'
import { runSql } from '../support/engines/sql.js'

/** SIGKILL for all processes of a server, as if its machine had failed: left to themselves, some would still answer. */
export async function crash (server: PrivateServer): Promise<void> {
  const [, ...children] = await processesOf(server)
  // It is sent before anything else happens, so that the server cannot see its children end.
  const ended = server.kill('SIGKILL')
  signal(children, 'SIGKILL')
  await ended
}

/** Halts all processes of a server: it takes connections, and answers nothing. Call the result to let it go on. */
export async function freeze (server: PrivateServer): Promise<() => void> {
  const processes = await processesOf(server)
  signal(processes, 'SIGSTOP')
  // Each thread stops when it is its turn, and may answer until then.
  await sleep(50)
  return () => { signal(processes, 'SIGCONT') }
}

/** The server itself, and then what it has started: PostgreSQL has a process for each connection. */
async function processesOf ({ url, child }: PrivateServer): Promise<number[]> {
  const children = url.startsWith('postgres')
    ? await runSql(url, 'select pid from pg_stat_activity where pid <> pg_backend_pid()')
    : []
  return [Number(child.pid), ...children.map(({ pid }) => Number(pid))]
}

function signal (processes: readonly number[], name: NodeJS.Signals): void {
  for (const id of processes) {
    try {
      process.kill(id, name)
    } catch { /* it has ended by itself */ }
  }
}
