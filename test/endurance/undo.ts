import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the helpers of the tests need of a test: a place for what is to be undone at its end. */
export interface Teardown {
  teardown (undo: () => unknown): void
}

/**
 * Does work in a folder of its own and undoes, last things first, what it leaves, also when it fails or is interrupted.
 */
export async function inFolder<Result> (work: (folder: string, t: Teardown) => Promise<Result>): Promise<Result> {
  const undos: Array<() => unknown> = []
  const undoAll = async (): Promise<void> => {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) await undo()
  }
  const folder = mkdtempSync(join(tmpdir(), 'endurance-'))
  undos.push(() => { rmSync(folder, { recursive: true }) })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => { await undoAll(); process.exit(1) })
  }
  try {
    return await work(folder, { teardown: (undo) => { undos.push(undo) } })
  } finally {
    await undoAll()
  }
}
