import type { CredentialsMode, Fetch } from './fetch.js'

type Headers = Readonly<Record<string, string>>

export interface ClientOptions {
  /** Where the server is, with the path before the prefix if there is one: `https://example.com` or `https://example.com/shop`. */
  readonly baseUrl: string | { readonly href: string }
  /** The option `prefix` of the plugin. Default `/api`. */
  readonly prefix?: string
  /** For HTTP Basic, with a password. */
  readonly username?: string
  readonly password?: string
  /** A bearer token, for a policy of the deployer's own. */
  readonly token?: string
  /** Headers of every request, or a function that gives them for each. */
  readonly headers?: Headers | (() => Headers | Promise<Headers>)
  /** Whether browsers add cookies and logins of their own: `omit` by default with credentials or a token, else `same-origin`. */
  readonly credentials?: CredentialsMode
  /** The global `fetch` by default. */
  readonly fetch?: Fetch
}

/** What a client was given, checked, and made ready for requests. */
export interface Endpoint {
  /** URL of the resources, without a slash at its end. */
  readonly url: string
  readonly credentials: CredentialsMode
  readonly fetch: Fetch
  headers (): Promise<Record<string, string>>
}

/**
 * Checks the options of a client.
 *
 * @throws TypeError naming the option, never its value
 */
export function checkOptions (options: ClientOptions): Endpoint {
  const { prefix = '/api', headers = {}, fetch = async (url, init) => await globalThis.fetch(url, init) } = options
  const authorization = authorizationOf(options)
  const { credentials = authorization === undefined ? 'same-origin' : 'omit' } = options
  return {
    url: baseOf(options.baseUrl) + trimSlashes(checkPrefix(prefix)),
    credentials,
    fetch,
    headers: async () => checkHeaders({ ...authorization, ...typeof headers === 'function' ? await headers() : headers })
  }
}

/** Without what a URL may hold beyond its path. `fetch` refuses a URL with credentials, in a message that holds them. */
function baseOf (baseUrl: ClientOptions['baseUrl']): string {
  const text = typeof baseUrl === 'string' ? baseUrl : baseUrl?.href
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new TypeError("'baseUrl' must be an absolute URL of http or https")
  if (url.username !== '' || url.password !== '') throw new TypeError("'baseUrl' must not hold credentials; give 'username' and 'password'")
  if (url.search !== '' || url.hash !== '') throw new TypeError("'baseUrl' must end with its path")
  return url.origin + trimSlashes(url.pathname)
}

function checkPrefix (prefix: string): string {
  if (/[?#\s]/.test(prefix) || !prefix.isWellFormed()) throw new TypeError("'prefix' must be a path")
  // As the server has it, and not as a URL: a % is a character of it.
  return encodeURI(prefix)
}

/** A path with a slash at its beginning and none at its end; empty for the root. */
function trimSlashes (path: string): string {
  const trimmed = path.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `/${trimmed}`
}

function authorizationOf ({ username, password, token }: ClientOptions): { authorization: string } | undefined {
  if (token !== undefined) {
    if (username !== undefined || password !== undefined) throw new TypeError("'token' cannot be given beside 'username' and 'password'")
    return { authorization: `Bearer ${token}` }
  }
  if (username === undefined && password === undefined) return undefined
  if (username === undefined || password === undefined) throw new TypeError("'username' and 'password' must be given together")
  // RFC 7617, section 2
  if (username.includes(':')) throw new TypeError("'username' must not hold a colon")
  return { authorization: `Basic ${base64(`${username}:${password}`)}` }
}

/** `btoa` takes bytes, each as a character, and no other text. */
function base64 (text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

/** `fetch` refuses these as well, in a message that holds the value. */
function checkHeaders (headers: Headers): Record<string, string> {
  const checked: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new TypeError(`the header '${name}' has characters that cannot be sent`)
    checked[name.toLowerCase()] = value
  }
  return checked
}
