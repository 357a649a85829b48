import { waitFor } from '../support/engines/wait-for.js'
import type { App } from './apps.js'
import { Client, isPutOff, isUndone, type Answer } from './client.js'
import { owners, type Owner, type Seeds } from './site.js'

/** How the labels of what the writers create begin. */
export const createdPrefix = 'created '

interface Acknowledged {
  readonly label: string
  readonly id: number
  readonly writer: number
  /** When the answer came, as `performance.now()` counts. */
  readonly at: number
}

/** What the clients of a load have seen. */
export interface Seen {
  readonly acknowledged: Acknowledged[]
  /** Labels of creates that were not acknowledged: they may have happened or not. */
  readonly failed: string[]
  /** Labels of those of them of which the client was told that they certainly did not happen. */
  readonly undone: string[]
  /** What the seeds may be now, by id: a note, or undefined for a deleted entry; more than one if nobody knows. */
  readonly possible: Map<number, Array<string | undefined>>
  /** How many requests of any kind were answered by 503 with Retry-After. */
  putOff: number
  /** Answers that no client may get, in words; also of requests that were never answered. */
  readonly wrong: string[]
  /** Milliseconds that the slowest answer took. */
  slowest: number
}

export interface Load {
  readonly seen: Seen
  /** Waits until so many more creates have been acknowledged. */
  goOn (count: number): Promise<void>
  /** Waits until each writer has been put off once more. */
  pause (): Promise<void>
  /** Waits until each writer has had a create acknowledged after a moment: how many milliseconds it took. */
  recover (since: number): Promise<number>
  /** Waits for the answers that are still to come. */
  stop (): Promise<void>
}

type Step = (number: number) => Promise<void>
type Send = (method: string, path: string, body?: object) => Promise<Answer>

const writersPerApp = 4
const writers = owners.map((_, app) => Array.from({ length: writersPerApp }, (_, index) => app * writersPerApp + index))

/**
 * Starts clients that do the same again and again without a pause: on each app writers, a reader, and an owner who
 * edits.
 */
export function startLoad (apps: readonly [App, App], seeds: Seeds): Load {
  const seen: Seen = { acknowledged: [], failed: [], undone: [], possible: new Map(), putOff: 0, wrong: [], slowest: 0 }
  const clients: Client[] = []
  const end = new AbortController()
  const connect = (app: App, owner: Owner): Send => {
    const client = new Client(app.address, owner)
    clients.push(client)
    return async (...asked) => await timed(seen, async () => await client.send(...asked))
  }
  const run = async (step: Step): Promise<void> => {
    for (let number = 0; !end.signal.aborted; number++) await step(number)
  }
  const running = owners.flatMap((owner, index) => {
    const app = apps[index] ?? apps[0]
    return [
      ...(writers[index] ?? []).map((writer) =>
        write(seen, connect(app, owners[writer % owners.length] ?? owner), writer)),
      read(seen, connect(app, owner), writers[index] ?? []),
      edit(seen, connect(app, owner), { own: [...seeds[owner]], others: owner === 'alice' ? seeds.bob : seeds.alice })
    ].map(run)
  })
  const waitForWriters = async (what: string, acted: () => ReadonlySet<number>): Promise<void> => {
    await waitFor(what, async () => writers.flat().every((writer) => acted().has(writer)))
  }
  return {
    seen,
    goOn: async (count) => {
      const goal = seen.acknowledged.length + count
      await waitFor(`${count} more creates are acknowledged`, async () => seen.acknowledged.length >= goal)
    },
    pause: async () => {
      const { length } = seen.failed
      await waitForWriters('each writer is put off', () => new Set(seen.failed.slice(length).map(writerOf)))
    },
    recover: async (since) => {
      await waitForWriters('each writer goes on', () =>
        new Set(seen.acknowledged.filter(({ at }) => at > since).map(({ writer }) => writer)))
      return performance.now() - since
    },
    stop: async () => {
      end.abort()
      await Promise.all(running)
      for (const client of clients) client.close()
    }
  }
}

function write (seen: Seen, send: Send, writer: number): Step {
  return async (number) => {
    const label = `${createdPrefix}${writer} ${number}`
    const answer = await send('POST', '', { label })
    if (expect(seen, answer, { of: 'a create', status: [201] })) {
      seen.acknowledged.push({ label, id: Number(JSON.parse(answer.body).id), writer, at: performance.now() })
    } else {
      seen.failed.push(label)
      if (isUndone(answer)) seen.undone.push(label)
    }
  }
}

function writerOf (label: string): number {
  return Number(label.split(' ')[1])
}

/** What was acknowledged is there for whoever asks the same app. */
function read (seen: Seen, send: Send, writers: readonly number[]): Step {
  return async () => {
    expect(seen, await send('GET', '?ordering=-id'), { of: 'a list', status: [200] })
    const newest = seen.acknowledged.findLast(({ writer }) => writers.includes(writer))
    if (newest !== undefined) {
      expect(seen, await send('GET', `${newest.id}/`), { of: 'a read of what was acknowledged', status: [200] })
    }
  }
}

/** Changes and deletes own entries, and tries those of somebody else. */
function edit (
  seen: Seen, send: Send, { own, others }: { readonly own: number[], readonly others: readonly number[] }
): Step {
  const change = async (id: number, note: string | undefined): Promise<void> => {
    const answer = note === undefined ? await send('DELETE', `${id}/`) : await send('PUT', `${id}/`, { note })
    const isDone = expect(seen, answer, { of: 'a change of an own entry', status: [note === undefined ? 204 : 200] })
    if (isDone) seen.possible.set(id, [note])
    else if (!isUndone(answer)) seen.possible.set(id, [...seen.possible.get(id) ?? [''], note])
  }
  return async (number) => {
    const id = own.shift() ?? 0
    await change(id, `note ${number}`)
    if (number % 50 === 49 && own.length > 1) await change(id, undefined)
    else own.push(id)
    const path = `${others[number % others.length]}/`
    // 404 once its owner has deleted it.
    expect(seen, await send('PUT', path, { note: 'not mine' }), {
      of: "a change of another's entry", status: [403, 404]
    })
    expect(seen, await send('DELETE', path), { of: "a delete of another's entry", status: [403, 404] })
  }
}

/** Whether an answer is as it should be; if not, the client may only be put off. */
function expect (
  seen: Seen, answer: Answer, { of, status }: { readonly of: string, readonly status: readonly number[] }
): boolean {
  if (status.includes(answer.status)) return true
  if (isPutOff(answer)) seen.putOff++
  else seen.wrong.push(`${of}: ${answer.status} ${answer.body}`)
  return false
}

async function timed (seen: Seen, ask: () => Promise<Answer>): Promise<Answer> {
  const start = performance.now()
  const answer = await ask()
  seen.slowest = Math.max(seen.slowest, performance.now() - start)
  return answer
}
