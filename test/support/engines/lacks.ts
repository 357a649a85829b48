import type { Test } from 'tap'
import { findEngine, type EngineName } from './find-engine.js'
import { whyMissing, type ServerKind } from './programs.js'
import { createDatabase } from './test-database.js'

/**
 * Whether a kind of server is missing here, in which case the test is skipped, for all to see, or fails in
 * `npm run test:all`.
 */
export function lacks (t: Test, kind: ServerKind): boolean {
  const why = whyMissing(kind)
  if (why !== undefined) skip(t, why)
  return why !== undefined
}

/** The URL of a server to make databases on; without one, the test is skipped or fails in the same way. */
export async function requireEngine (t: Test, engine: EngineName): Promise<string | undefined> {
  const found = await findEngine(engine)
  if (found.url === undefined) skip(t, found.why)
  else t.teardown(found.stop)
  return found.url
}

/**
 * The URL of a database of its own, empty, dropped when the test ends; without a server, the test is skipped or fails
 * in the same way.
 */
export async function requireDatabase (t: Test, engine: EngineName): Promise<string | undefined> {
  const server = await requireEngine(t, engine)
  if (server === undefined) return undefined
  const { url, drop } = await createDatabase(server)
  t.teardown(drop)
  return url
}

function skip (t: Test, why: string): void {
  if (process.env['TEST_ALL'] === 'true') t.fail(why)
  else t.pass('there is such a server', { skip: why })
}
