import type { LoadRequest } from './load/generate.js'

/** The same request to two servers. */
export interface Pair {
  readonly urls: readonly [ours: string, against: string]
  readonly requests: readonly [ours: LoadRequest, against: LoadRequest]
  /** Headers that need not be the same. */
  readonly differs: readonly string[]
}

/** A header that differs from one second to the next. */
const volatile = ['date']
const newest = 5000

/**
 * Sends the same request to two servers and compares status, headers and body, byte by byte. Moments of the last seconds
 * count as equal, because the servers create their records one after the other.
 *
 * @throws an error that says what differs
 */
export async function requireSame ({ urls, requests, differs }: Pair): Promise<void> {
  const ignored = [...volatile, ...differs]
  const [ours, against] = [await ask(urls[0], requests[0], ignored), await ask(urls[1], requests[1], ignored)]
  if (ours === against) return
  throw new DifferentAnswers(`${requests[0].method} ${requests[0].path} ${requests[0].body ?? ''}\n--- ours\n${ours}\n--- the other\n${against}`)
}

/**
 * Asks one server for the same records in two ways.
 *
 * @throws an error that says what differs
 */
export async function requireSameRecords (url: string, requests: readonly [LoadRequest, LoadRequest]): Promise<void> {
  const [one, other] = [await recordsOf(url, requests[0]), await recordsOf(url, requests[1])]
  if (one !== other) throw new DifferentAnswers(`${requests[0].path}\n${one}\n--- ${requests[1].path}\n${other}`)
}

async function recordsOf (url: string, { path }: LoadRequest): Promise<string> {
  const { objects } = await (await fetch(url + path)).json() as { readonly objects?: readonly object[] }
  if (objects === undefined || objects.length === 0) throw new DifferentAnswers(`${path} is answered without records`)
  return JSON.stringify(objects)
}

/** Thrown if two servers give different answers. Then it means nothing which is faster. */
export class DifferentAnswers extends Error {}

async function ask (url: string, { method, path, headers = {}, body }: LoadRequest, ignored: readonly string[]): Promise<string> {
  const response = await fetch(url + path, { method, headers, body: body ?? null })
  const text = await response.text()
  if (!response.ok) throw new DifferentAnswers(`${method} ${path} is answered with ${response.status}: ${text}`)
  const shown = [...response.headers].filter(([name]) => !ignored.includes(name)).map(([name, value]) => `${name}: ${value}`)
  return [response.status, ...shown, '', withoutPresent(text)].join('\n')
}

function withoutPresent (text: string): string {
  return text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, (moment) => {
    const age = Date.now() - Date.parse(`${moment.replace(' ', 'T')}Z`)
    return age >= -1000 && age < newest ? '(now)' : moment
  })
}
