import type { Test } from 'tap'
import type { App, Line } from './apps.js'
import type { Seen } from './load.js'

/** A loss of the server that takes writes, as somebody knows it who has caused it. */
export interface Loss {
  /** Host and port of the server in use that could no longer take writes, and of the one that was used at the end. */
  readonly from: string
  readonly to: string
  /** When nobody took writes any more, and when another one did, in milliseconds since 1970. */
  readonly lost: number
  readonly back: number
}

/** Milliseconds after which an app must have said what happened. */
const maxDelay = 2000

/** Checks that the log of an app and its messages tell the same: what happened at a loss, when, and how long. */
export async function checkLog (t: Test, app: App, { from, to, lost, back }: Loss): Promise<void> {
  const [log, { node, retry, statement }] = [app.log(), await app.messages()]
  const of = (event: string): Line[] => log.filter((line) => line['event'] === event)
  t.match(of('node'), node, 'each change of the server has a line and a message')
  t.match(of('retry'), retry, 'each repeated statement, too')
  t.same([of('node').length, of('retry').length], [node.length, retry.length])
  const told = of('node').slice(-3)
  t.match(told, [{ state: 'left', node: from }, { state: 'none' }, { state: 'found', node: to }])
  const [left = 0, none = 0, found = 0] = told.map(({ time }) => Number(time))
  t.ok(none - lost < maxDelay, `left after ${left - lost} ms, none after ${none - lost} ms`)
  t.ok(found - back < maxDelay, `found ${found - back} ms after its return`)
  t.ok(Math.abs(Number(told.at(-1)?.['duration']) - (found - left)) < 100, 'how long it took')
  const failed = statement.filter(({ outcome }) => outcome === 'failed')
  t.ok(failed.length > 0 && retry.length > 0, `${failed.length} failed, ${retry.length} were repeated`)
  const reasons = [...failed, ...retry, ...node.filter(({ state }) => state !== 'found')]
  t.same(reasons.filter(({ code }) => code === null), [], 'D-256: each has a reason')
}

/** What Fastify logs of an answer with 500 or more. */
interface Refusal {
  readonly err?: { readonly code: string }
  readonly res?: { readonly statusCode: number }
}

/** Checks that the logs of all apps tell how many requests were refused, and that each line says what that means. */
export function checkRefused (t: Test, apps: readonly App[], { putOff }: Seen): void {
  const refused = apps.flatMap((app) => app.log() as readonly Refusal[])
    .filter(({ err, res }) => err !== undefined && res?.statusCode === 503)
  t.equal(refused.length, putOff, `${putOff} requests were refused`)
  const meanings = ['REST_MODELS_UNAVAILABLE', 'REST_MODELS_OUTCOME_UNKNOWN']
  t.same(refused.filter(({ err }) => !meanings.includes(String(err?.code))), [])
}
