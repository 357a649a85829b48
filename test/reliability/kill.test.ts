import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { test } from 'tap'
import { endWorker, startWorker } from './workers.js'
import type { LogLine } from './writer.js'

const rounds = 10

test(`R-01: of writes that were answered, none is lost when the process is killed, ${rounds} times`, { timeout: 120_000 }, async (t) => {
  const directory = t.testdir()
  const path = join(directory, 'site.db')
  const logPath = join(directory, 'log')
  for (let round = 0; round < rounds; round++) {
    const { child, next } = startWorker<string>(t, 'writer.ts', path, logPath, round % 2 === 0 ? 'full' : 'normal')
    await next()
    await wait(20 + 30 * (round % 5))
    await endWorker(child)
    t.equal(child.signalCode, 'SIGKILL')
    requireAnswered(path, logPath)
  }
  const lines = readLog(logPath)
  t.ok(lines.length > rounds * 5, `${lines.length} lines are enough to mean something`)

  function requireAnswered (path: string, logPath: string): void {
    t.ok(existsSync(`${path}-wal`), 'the process could not clean up')
    const database = new Database(path)
    t.strictSame(database.pragma('integrity_check', { simple: true }), 'ok')
    t.strictSame(database.pragma('foreign_key_check'), [])
    const stored = new Map(database.prepare('select id, content from message').raw().all() as Array<[number, string]>)
    database.close()
    const lines = readLog(logPath)
    t.strictSame(differences(lines, stored), [], `${lines.length} lines, ${stored.size} records`)
  }
})

function readLog (path: string): LogLine[] {
  return readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as LogLine)
}

/** Where the table differs from what was answered; what was asked last in a process may have happened or not. */
function differences (lines: readonly LogLine[], stored: ReadonlyMap<number, string>): string[] {
  const expected = new Map<number, string | null>()
  const open = new Map<number, string | null>()
  const openCreates = new Set<string | null>()
  for (const [index, { id, content, answered }] of lines.entries()) {
    if (answered) {
      expected.set(id, content)
    } else if (lines[index + 1]?.answered !== true) {
      if (id === 0) openCreates.add(content)
      else open.set(id, content)
    }
  }
  const lost = [...expected].filter(([id, content]) => {
    const found = stored.get(id) ?? null
    return found !== content && !(open.has(id) && found === open.get(id))
  })
  const invented = [...stored].filter(([id, content]) => !expected.has(id) && !openCreates.has(content))
  return [...lost, ...invented].map(([id, content]) => `${id} ${content}`)
}
