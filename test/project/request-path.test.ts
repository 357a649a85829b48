// @once: counts functions and frames on SQLite
// @long: counts calls in a process that is traced

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'tap'
import type { Trace } from './traced-app.js'

const run = promisify(execFile)
const program = fileURLToPath(new URL('traced-app.ts', import.meta.url))

/** What a warm request may run of lib and schemas at most, with the queues and batches. */
const most = {
  read: { files: 16, functions: 38 },
  list: { files: 24, functions: 80 },
  create: { files: 28, functions: 95 }
} as const

test('a request takes few functions, and four frames at most from its handler to the driver', async (t) => {
  const { stdout } = await run(process.execPath, ['--import=tsx', program, join(t.testdir(), 'site.db')])
  const traces = JSON.parse(stdout) as Record<string, Trace>
  for (const [name, limit] of Object.entries(most)) {
    // SQLite calls the check of the deadline at rows that it chooses at random.
    const all = Object.entries(traces[name]?.files ?? {}).filter(([file]) => file !== 'lib/engines/sqlite/deadline')
    const functions = all.flatMap(([, names]) => names)
    t.ok(all.length > 5 && all.length <= limit.files, `${name}: ${all.length} files`)
    t.ok(functions.length > 10 && functions.length <= limit.functions, `${name}: ${functions.length} functions`)
  }
  for (const [name, { frames }] of Object.entries(traces)) {
    t.ok(frames.length > 0, `${name} calls the driver`)
    const longest = Math.max(...frames.map((stack) => stack.length))
    t.ok(longest <= 4, `${name}: ${longest} frames`)
  }
})
