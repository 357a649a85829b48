import { statSync } from 'node:fs'
import { resolve } from 'node:path'

/** In the words of SQLite, which looks for itself only where it keeps no write-ahead log. */
class FileMoved extends Error {
  readonly code = 'SQLITE_READONLY_DBMOVED'
}

/** Milliseconds for which a file that was found is not looked for again: a look takes 3 to 5 µs. */
const believedFor = 5

/**
 * Gives what makes sure that a path still leads to the file that it leads to now: what is written to a file that was moved
 * or deleted is there for this process alone.
 *
 * @throws (the function that it gives) an Error with the code `SQLITE_READONLY_DBMOVED`
 */
export function watchFile (path: string): () => void {
  // As the driver does: without the spaces around it, and from the folder of now.
  const file = resolve(path.trim())
  const opened = identityOf(file)
  let found = performance.now()
  return () => {
    const now = performance.now()
    if (opened === unknown || now - found < believedFor) return
    if (![opened, unknown].includes(identityOf(file))) throw new FileMoved(`'${path}' was moved, replaced or deleted: put it back, or start again`)
    found = now
  }
}

/** What this process may not look at, any more or at all, counts as being where it was. */
const unknown = 'unknown'

function identityOf (file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stats && `${stats.dev} ${stats.ino}`
  } catch {
    return unknown
  }
}
