import type { Test } from 'tap'
import { runSql } from '../support/engines/sql.js'
import type { App } from './apps.js'
import { createdPrefix, type Seen } from './load.js'
import type { Seeds } from './site.js'

interface Site {
  readonly apps: readonly App[]
  readonly seeds: Seeds
  /** Of the nodes that are left. */
  readonly urls: readonly [string, ...string[]]
}

interface Stored {
  readonly id: number
  readonly label: string
  readonly note: string
}

/**
 * Checks, after a load, that clients saw nothing that they must not see, that every node has what they were told, and
 * that the apps are as they were.
 */
export async function checkLoad (t: Test, seen: Seen, { apps, seeds, urls }: Site): Promise<void> {
  t.strictSame(seen.wrong, [], 'no client got another answer than the right one or 503 with Retry-After')
  for (const { isRunning, close } of apps) {
    t.ok(isRunning(), 'no app has ended')
    t.strictSame(await close(), [0, null], 'each can be closed')
  }
  for (const url of urls) {
    const found = differences(await entriesOn(url), seen, seeds)
    t.strictSame(
      found, { lost: [], duplicated: [], invented: [], untrue: [], changed: [] },
      `${new URL(url).host} has what the clients were told`
    )
  }
  const entries = await entriesOn(urls[0])
  t.comment(summary(entries, seen, differences(entries, seen, seeds)))
}

async function entriesOn (url: string): Promise<Stored[]> {
  const rows = await runSql(url, 'select id, label, note from entry')
  return rows.map(({ id, label, note }) => ({ id: Number(id), label: String(label), note: String(note) }))
}

/** How what a node holds differs from what clients were told. */
interface Differences {
  /** Acknowledged, but not there. */
  readonly lost: readonly string[]
  /** There more than once. */
  readonly duplicated: readonly string[]
  /** There, although nobody has asked for it. */
  readonly invented: readonly string[]
  /** There, although its client was told that it certainly did not happen. */
  readonly untrue: readonly string[]
  /** Seeds that are not as their owners left them. */
  readonly changed: ReadonlyArray<readonly [id: number, note: string | undefined]>
}

function differences (entries: readonly Stored[], seen: Seen, { alice, bob }: Seeds): Differences {
  const created = entries.map(({ label }) => label).filter((label) => label.startsWith(createdPrefix))
  const stored = new Set(created)
  const acknowledged = seen.acknowledged.map(({ label }) => label)
  const asked = new Set([...acknowledged, ...seen.failed])
  const notes = new Map(entries.map(({ id, note }) => [id, note]))
  const seeds = [...alice, ...bob].map((id) => [id, notes.get(id)] as const)
  return {
    lost: acknowledged.filter((label) => !stored.has(label)),
    duplicated: created.filter((label, index) => created.indexOf(label) !== index),
    invented: created.filter((label) => !asked.has(label)),
    untrue: seen.undone.filter((label) => stored.has(label)),
    changed: seeds.filter(([id, note]) => !(seen.possible.get(id) ?? ['']).includes(note))
  }
}

function summary (entries: readonly Stored[], seen: Seen, { lost, duplicated }: Differences): string {
  const stored = new Set(entries.map(({ label }) => label))
  return [
    `acknowledged ${seen.acknowledged.length}`,
    `lost ${lost.length}`,
    `duplicated ${duplicated.length}`,
    `failed ${seen.failed.length} (of which told to be undone ${seen.undone.length}, and stored ` +
      `${seen.failed.filter((label) => stored.has(label)).length})`,
    `longest gap without an acknowledged write ${Math.round(longestGap(seen))} ms`,
    `slowest answer ${Math.round(seen.slowest)} ms`
  ].join(', ')
}

function longestGap ({ acknowledged }: Seen): number {
  const gaps = acknowledged.slice(1).map(({ at }, index) => at - (acknowledged[index]?.at ?? at))
  return gaps.reduce((longest, gap) => Math.max(longest, gap), 0)
}
