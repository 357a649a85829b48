import { isLocked } from './lock.js'

/** The part of a better-sqlite3 database that {@link switchToWal} needs. */
interface Switchable {
  pragma (source: string): unknown
}

/** Milliseconds between two attempts to switch to a write-ahead log. The process is blocked meanwhile. */
const retryPauseMs = 10

/**
 * Switches a database to a write-ahead log (WAL). It waits for other processes that switch a new file at the same
 * moment, because SQLite does not. The process is blocked while it waits. A database in memory stays without a log.
 *
 * @param timeout  milliseconds after which it gives up
 * @throws the driver's failure: after the time-out if the database is still busy, at once if the failure is another one
 */
export function switchToWal (database: Switchable, timeout: number): void {
  for (const end = performance.now() + timeout; !isSwitched(database, end);) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryPauseMs)
  }
}

function isSwitched (database: Switchable, end: number): boolean {
  try {
    database.pragma('journal_mode = wal')
    return true
  } catch (error) {
    if (!isLocked(error) || performance.now() > end) throw error
    return false
  }
}
