import { isLocked } from './lock.js'

/** The part of a better-sqlite3 database that switching needs. */
interface Switchable {
  pragma (source: string): unknown
}

const pause = 10

/**
 * Switches a database to WAL. SQLite does not wait for other processes that switch a new file at the same moment, so this does.
 *
 * @param timeout  milliseconds after which it gives up
 * @throws what the driver threw, if it is not that the database is busy, or if it is for too long
 */
export function switchToWal (database: Switchable, timeout: number): void {
  for (const end = performance.now() + timeout; !isSwitched(database, end);) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
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
