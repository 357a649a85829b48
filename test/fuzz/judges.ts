import { secrets } from './site.js'
import type { Answer } from './socket.js'

/** What is wrong with an answer in itself, whatever was asked; undefined if nothing is. */
export function faultOf (answer: Answer): string | undefined {
  for (const judge of judges) {
    const fault = judge(answer)
    if (fault !== undefined) return fault
  }
  return undefined
}

type Judge = (answer: Answer) => string | undefined

const isSound: Judge = ({ status, body }) => {
  if (status < 200 || status > 599) return 'it is no answer of HTTP'
  return status >= 500 ? `it is a ${status}: ${body.slice(0, 300)}` : undefined
}

/** Looks for secrets as they are, and in what is packed into the cursors of links. */
const isDiscreet: Judge = ({ head, body }) => {
  const cursors = [...body.matchAll(/after=([\w-]+)/g)].map(([, cursor = '']) => Buffer.from(cursor, 'base64url')
    .toString())
  const said = [head, body, ...cursors].join('\n')
  const secret = secrets.find((secret) => said.includes(secret))
  return secret === undefined ? undefined : `it tells '${secret}'`
}

/**
 * Those of routes are compared with the document where they are sent; of all others the framework's form is asked for.
 */
const hasForm: Judge = ({ status, head, body }) => {
  if (status < 400 || body === '' || !/^content-type: application\/json/im.test(head)) return undefined
  const { statusCode, error, message } = parsed(body)
  return statusCode === status && typeof error === 'string' && typeof message === 'string'
    ? undefined
    : `the error has another form: ${body.slice(0, 300)}`
}

function parsed (body: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(body) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

const internals = [
  /\bat .+:\d+:\d+|node_modules|SQLITE_|SqliteError|\bER_[A-Z]+/i,
  /\bselect\b.+\bfrom\b|\binsert into\b|violates .+ constraint/i
]

/**
 * What the client sent may be repeated, in quotes or as a route that is not there; nothing of the inside may be told.
 */
const hidesInternals: Judge = ({ status, body }) => {
  if (status < 400) return undefined
  const said = body.replaceAll(/"Route .* not found"|'(?:[^']|'(?=.*'))*'|"field":"(?:[^"\\]|\\.)*"/g, '')
  return internals.some((pattern) => pattern.test(said)) ? `it tells of the inside: ${body.slice(0, 300)}` : undefined
}

const judges: readonly Judge[] = [isSound, isDiscreet, hasForm, hidesInternals]
