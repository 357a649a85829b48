import { statSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * Thrown when the database file was moved, replaced or deleted. It has the code that SQLite itself gives to this
 * failure. SQLite looks for the file only if it has no write-ahead log, so this process must look itself.
 */
class FileMoved extends Error {
  readonly code = 'SQLITE_READONLY_DBMOVED'
}

/** Milliseconds between two looks for the file, because a look takes 3 to 5 µs. */
const checkIntervalMs = 5

/**
 * Returns a function that throws if the path no longer leads to the same file. Only this process would see what it
 * writes to a file that was moved or deleted.
 *
 * @throws (the returned function) an Error with the code `SQLITE_READONLY_DBMOVED`
 */
export function watchFile (path: string): () => void {
  // The driver trims the path and resolves it in the current folder, too.
  const file = resolve(path.trim())
  const opened = identityOf(file)
  let found = performance.now()
  return () => {
    const now = performance.now()
    if (opened === unknownIdentity || now - found < checkIntervalMs) return
    if (![opened, unknownIdentity].includes(identityOf(file))) {
      throw new FileMoved(`'${path}' was moved, replaced or deleted: put it back, or restart the app`)
    }
    found = now
  }
}

/** Identity of a file that this process may not look at. Such a file counts as not moved. */
const unknownIdentity = 'unknown'

function identityOf (file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stats && `${stats.dev} ${stats.ino}`
  } catch {
    return unknownIdentity
  }
}
