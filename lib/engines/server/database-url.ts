import { errors } from '../../errors.js'

/** Matches a URL with one or more hosts. */
const databaseUrl = /^(?<scheme>[a-z]+):\/\/(?<credentials>[^/?#]*@)?(?<hosts>[^/?#@]+)(?<rest>\/[^#?][^#]*)$/

/**
 * Returns the URLs of the nodes (database servers) that a database URL names: `postgres://me@a:5432,b:5433/site` stands
 * for two.
 *
 * @param schemes  the schemes that the URL may have
 * @throws REST_MODELS_INVALID_OPTIONS if the URL has another form; it never repeats the URL, which holds a password
 */
export function nodeUrls (url: string, schemes: readonly string[]): readonly [string, ...string[]] {
  const isText = typeof url === 'string' && url.trim() !== ''
  const { scheme = '', credentials = '', hosts = '', rest = '' } = (isText && databaseUrl.exec(url)?.groups) || {}
  const [first = '', ...others] = hosts.split(',').map((host) => `${scheme}://${credentials}${host}${rest}`)
  const isValid = (node: string): boolean => URL.canParse(node) && new URL(node).hostname !== ''
  const isRight = schemes.includes(scheme) && isEncoded(credentials + rest) && [first, ...others].every(isValid)
  if (isRight) return [first, ...others]
  const remedy = isText ? '' : '. Is an environment variable not set?'
  throw new errors.InvalidOptions(
    `A database URL has the form ${schemes[0]}://user:password@host:port/database, in which a percent sign is ` +
    `written %25, with several hosts separated by commas${remedy}`)
}

/** True if each `%` in a text begins an encoded character. */
function isEncoded (text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
