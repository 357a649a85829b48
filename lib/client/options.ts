import type { CredentialsMode, Fetch } from './fetch.js'
import { requireKnown } from './known-options.js'

type Headers = Readonly<Record<string, string>>

export interface ClientOptions {
  /** URL of the server, with any path before the prefix: `https://example.com` or `https://example.com/shop`. */
  readonly baseUrl: string | { readonly href: string }
  /**
   * Path before all routes of the API. It must be the `prefix` that the plugin was registered with on the server.
   * Default `/api`.
   */
  readonly prefix?: string
  /** User name for HTTP Basic. Needs `password`. */
  readonly username?: string
  readonly password?: string
  /**
   * Bearer token, sent as `Authorization: Bearer`. It is for a server whose policy accepts such tokens. It cannot be
   * given together with `username` and `password`.
   */
  readonly token?: string
  /**
   * Headers of every request, or a function that returns them and is called once for each call. If the client repeats a
   * request, it sends the same headers again.
   */
  readonly headers?: Headers | (() => Headers | Promise<Headers>)
  /**
   * The mode in which browsers add their own cookies and logins. Default `omit` with a user name or a token, otherwise
   * `same-origin`.
   */
  readonly credentials?: CredentialsMode
  /** Function that sends requests. Default: the global `fetch`. */
  readonly fetch?: Fetch
}

/** The checked options of a client, in the form that requests need. */
export interface Endpoint {
  /** URL to which paths such as `/user/` are appended: the base URL and the prefix, without a final slash. */
  readonly url: string
  readonly credentials: CredentialsMode
  readonly fetch: Fetch
  headers (): Promise<Record<string, string>>
}

const optionNames: Readonly<Record<keyof ClientOptions, true>> = {
  baseUrl: true,
  prefix: true,
  username: true,
  password: true,
  token: true,
  headers: true,
  credentials: true,
  fetch: true
}

/**
 * Checks the options of a client. The option `headers` is checked with each call, because it may be a function.
 *
 * @throws TypeError naming the option, never its value
 */
export function checkOptions (options: ClientOptions): Endpoint {
  requireKnown('createClient()', options, optionNames)
  const { prefix = '/api', headers = {}, fetch = async (url, init) => await globalThis.fetch(url, init) } = options
  const authorization = authorizationOf(options)
  const { credentials = authorization === undefined ? 'same-origin' : 'omit' } = options
  return {
    url: baseOf(options.baseUrl) + trimSlashes(checkPrefix(prefix)),
    credentials,
    fetch,
    headers: async () =>
      checkHeaders({ ...authorization, ...requirePlain(typeof headers === 'function' ? await headers() : headers) })
  }
}

/**
 * Returns the headers. Throws a TypeError for `Headers` objects and lists of pairs: their headers are no properties, so
 * they would not be sent.
 */
function requirePlain (headers: Headers): Headers {
  if (Symbol.iterator in Object(headers)) throw new TypeError("'headers' must be a plain object of texts")
  return headers
}

/**
 * Returns the base URL without a final slash. Throws a TypeError if it is no absolute URL of http or https, or if it
 * has a query, a fragment or credentials. `fetch` would refuse the credentials too, but its message would repeat them.
 */
function baseOf (baseUrl: ClientOptions['baseUrl']): string {
  const text = typeof baseUrl === 'string' ? baseUrl : baseUrl?.href
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("'baseUrl' must be an absolute URL of http or https")
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError("'baseUrl' must not hold credentials; give 'username' and 'password'")
  }
  if (url.search !== '' || url.hash !== '') throw new TypeError("'baseUrl' must not have a query or a fragment")
  return url.origin + trimSlashes(url.pathname)
}

function checkPrefix (prefix: string): string {
  if (/[?#\s]/.test(prefix) || !prefix.isWellFormed()) throw new TypeError("'prefix' must be a path")
  // The prefix is plain text as in the server's option, not a URL: a % in it is an ordinary character.
  return encodeURI(prefix)
}

/** Returns a path with a slash at its start and none at its end. Returns an empty text for the root. */
function trimSlashes (path: string): string {
  const trimmed = path.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `/${trimmed}`
}

function authorizationOf ({ username, password, token }: ClientOptions): { authorization: string } | undefined {
  if (token !== undefined) {
    if (username !== undefined || password !== undefined) {
      throw new TypeError("'token' cannot be given beside 'username' and 'password'")
    }
    return { authorization: `Bearer ${token}` }
  }
  if (username === undefined && password === undefined) return undefined
  if (username === undefined || password === undefined) {
    throw new TypeError("'username' and 'password' must be given together")
  }
  // RFC 7617, section 2: the first colon ends the user name.
  if (username.includes(':')) throw new TypeError("'username' must not hold a colon")
  return { authorization: `Basic ${base64(`${username}:${password}`)}` }
}

/** Encodes a text as UTF-8 and then as base64. `btoa` accepts only characters that each stand for one byte. */
function base64 (text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

/**
 * Returns headers with their names in lower case, and adds `accept: application/json` if there is no `accept`. Throws a
 * TypeError for a value that cannot be sent. `fetch` would refuse it too, but its message would repeat the value.
 */
function checkHeaders (headers: Headers): Record<string, string> {
  const checked: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new TypeError(`the header '${name}' has characters that cannot be sent`)
    }
    checked[name.toLowerCase()] = value
  }
  return checked
}
