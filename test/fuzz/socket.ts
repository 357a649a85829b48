import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { damage, type Damage } from './bodies.js'
import type { FuzzedRequest } from './requests.js'

/** What is written to a connection: requests one behind the other, damaged, in pieces. */
export interface Written {
  readonly requests: readonly FuzzedRequest[]
  readonly damages: readonly Damage[]
  /** Where the bytes are parted, as parts of the whole; the pieces are sent one after the other. */
  readonly cuts: readonly number[]
}

/** One answer as it came. */
export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Milliseconds without a byte after which the sender of what may lack its end says that no more will come. */
const patience = 30
/** Milliseconds after which there is no hope of an answer, or of an end. */
const longest = 10_000

/** The bytes of requests, the last of which asks for the end of the connection. */
export function bytesOf ({ requests, damages }: Written): Buffer {
  const whole = Buffer.concat(requests.map((request, index) => bytesOfOne(request, index === requests.length - 1)))
  return damages.reduce(damage, whole)
}

function bytesOfOne ({ method, target, headers, body }: FuzzedRequest, isLast: boolean): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.some(([name]) => name === 'host') ? [] : ['host: localhost'],
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...isLast ? ['connection: close'] : [],
    ...body === undefined ? [] : [`content-length: ${body.length}`]
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)])
}

const unclear = ['transfer-encoding', 'content-length', 'expect', 'host', 'connection']

/** A single request of which there can be no two opinions: it has one answer. */
export function isWhole ({ requests: [first, ...others], damages }: Written): boolean {
  if (first === undefined || others.length > 0 || damages.length > 0) return false
  return METHODS.includes(first.method) && !first.headers.some(([name]) => unclear.includes(name))
}

/** All that comes back until the connection is closed; undefined if it stays open. */
export async function exchange (port: number, written: Written): Promise<string | undefined> {
  const bytes = bytesOf(written)
  const places = [
    0, ...written.cuts.map((cut) => Math.floor(cut * bytes.length)).toSorted((a, b) => a - b), bytes.length
  ]
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let answer = ''
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<string | undefined>((resolve) => {
    const hope = setTimeout(() => { resolve(undefined); socket.destroy() }, longest)
    socket.setEncoding('latin1').setNoDelay()
    socket.on('data', (chunk: string) => { answer += chunk; timer?.refresh() })
    // A server may reset a connection on which it has not read all.
    socket.on('error', () => {}).on('end', () => socket.end())
    socket.on('close', () => { clearTimeout(hope); clearTimeout(timer); resolve(answer) })
  })
  for (const [index, place] of places.slice(0, -1).entries()) {
    if (index > 0) await pause(1)
    if (!socket.destroyed) socket.write(bytes.subarray(place, places[index + 1]))
  }
  if (!isWhole(written)) timer = setTimeout(() => socket.end(), patience)
  return await ended
}

/** The answers on a connection, without those that only say that more may be sent. */
export function answersIn (text: string): readonly Answer[] {
  const answers: Answer[] = []
  for (let rest = text; rest !== '';) {
    const { answer, length } = firstOf(rest)
    answers.push(answer)
    rest = rest.slice(length)
  }
  return answers.filter(({ status }) => status < 100 || status >= 200)
}

function firstOf (text: string): { readonly answer: Answer, readonly length: number } {
  const end = text.indexOf('\r\n\r\n')
  const head = end === -1 ? text : text.slice(0, end)
  const rest = text.slice(head.length + 4)
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
  // What is said of the length of an answer to HEAD is that of another one.
  const isEmpty = rest === '' || rest.startsWith('HTTP/1.') || status < 200 || status === 204 || status === 304
  const body = isEmpty ? '' : rest.slice(0, Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? rest.length))
  return { answer: { status, head, body }, length: head.length + 4 + body.length }
}
