import { errors } from '../../errors.js'

const form = /^(?<scheme>[a-z]+):\/\/(?<credentials>[^/?#]*@)?(?<hosts>[^/?#@]+)(?<rest>\/[^#?]+[^#]*)$/

/**
 * The URLs of the nodes that a database URL names: `postgres://me@a:5432,b:5433/site` stands for two.
 *
 * @param schemes  the schemes that the URL may have
 * @throws REST_MODELS_INVALID_OPTIONS that never repeats the URL, which holds a password
 */
export function nodeUrls (url: string, schemes: readonly string[]): readonly [string, ...string[]] {
  const isText = typeof url === 'string' && url.trim() !== ''
  const { scheme = '', credentials = '', hosts = '', rest = '' } = (isText && form.exec(url)?.groups) || {}
  const [first = '', ...others] = hosts.split(',').map((host) => `${scheme}://${credentials}${host}${rest}`)
  if (schemes.includes(scheme) && [first, ...others].every((node) => URL.canParse(node) && new URL(node).hostname !== '')) return [first, ...others]
  const remedy = isText ? '' : '. Is an environment variable not set?'
  throw new errors.InvalidOptions(`A database URL has the form ${schemes[0]}://user:password@host:port/database, with several hosts separated by commas${remedy}`)
}
