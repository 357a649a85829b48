import { request as send, STATUS_CODES, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { basic } from '../support/site.js'

/** What curl would send for a command line of a page, and how much of the answer it would print. */
export interface CurlRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** `-i`: status and headers are printed, too. */
  readonly isWithHead: boolean
  /** `-c` and `-b` with a file: cookies of the answer are kept there, and cookies that are there are sent. */
  readonly keepsCookies: boolean
  readonly sendsCookies: boolean
}

/** An answer as curl prints it. */
export interface CurlAnswer {
  /** The status and the headers, a line each. */
  readonly head: readonly string[]
  readonly body: string
}

/** The file in which pages keep cookies. */
const cookieFile = 'cookies.txt'

/** Reads the words behind `curl`; an option that pages do not use is an error. */
export function parseCurl (words: readonly string[]): CurlRequest {
  const headers: Record<string, string> = {}
  const bodies: string[] = []
  let method: string | undefined
  let url: URL | undefined
  let isWithHead = false
  let keepsCookies = false
  let sendsCookies = false
  const rest = [...words]
  const options: Readonly<Record<string, () => void>> = {
    '-i': () => { isWithHead = true },
    '-c': () => { keepsCookies = rest.shift() === cookieFile },
    '-b': () => { sendsCookies = rest.shift() === cookieFile },
    '-g': () => {},
    '-s': () => {},
    '-X': () => { method = String(rest.shift()) },
    '-u': () => {
      const [username = '', ...password] = String(rest.shift()).split(':')
      headers['authorization'] = basic(username, password.join(':'))
    },
    '-H': () => {
      const [name = '', ...value] = String(rest.shift()).split(':')
      headers[name.toLowerCase()] = value.join(':').trim()
    },
    '-d': () => { bodies.push(String(rest.shift())) },
    '--data-urlencode': () => {
      const [name = '', ...value] = String(rest.shift()).split('=')
      bodies.push(`${name}=${encodeURIComponent(value.join('='))}`)
    }
  }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const option = options[word]
    if (option !== undefined) option()
    else if (word.startsWith('-') || url !== undefined) throw new Error(`'${word}' of curl is not known here`)
    else url = new URL(word.startsWith('http') ? word : `http://${word}`)
  }
  if (url?.origin !== 'http://localhost:3000') throw new Error('Pages ask http://localhost:3000')
  const body = bodies.length === 0 ? undefined : bodies.join('&')
  if (body !== undefined) headers['content-type'] ??= 'application/x-www-form-urlencoded'
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    path: `${url.pathname}${url.search}`,
    headers,
    body,
    isWithHead,
    keepsCookies,
    sendsCookies
  }
}

/** Sends a request to a server at another address than the pages say. */
export async function curl ({ method, path, headers, body }: CurlRequest, address: string): Promise<CurlAnswer> {
  const { hostname, port } = new URL(address)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = send(
      { method, hostname, port, path, agent: false, headers: { host: 'localhost:3000', ...headers, ...length } },
      resolve
    )
    sent.on('error', reject)
    sent.end(body)
  })
  const { statusCode = 0, rawHeaders } = response
  const lines = rawHeaders.flatMap((name, index) => index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [])
  return { head: [`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`, ...lines], body: await text(response) }
}

/** The cookies of an answer as a header that sends them back. */
export function cookiesOf ({ head }: CurlAnswer): string {
  return head.filter((line) => /^set-cookie: /i.test(line))
    .map((line) => line.replace(/^set-cookie: /i, '').replace(/;.*/, '')).join('; ')
}
