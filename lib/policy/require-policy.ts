import { errors } from '../errors.js'
import { suggestion } from '../suggest.js'
import { operations } from './operations.js'
import type { AnyPolicy, SecurityScheme } from './policy.js'

/**
 * Checks the form of a policy that the deployer wrote, because programs in JavaScript may pass any value for it.
 *
 * @param where  the name of the option that holds the policy, for messages
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function requirePolicy (where: string, policy: AnyPolicy): void {
  requireParts(where, policy)
  const { open, closed = [], fields = [], scheme } = policy
  if (!Array.isArray(closed)) throw new errors.InvalidOptions(`${where} needs a list of operations as 'closed'`)
  if (!Array.isArray(fields)) throw new errors.InvalidOptions(`${where} needs a list of names as 'fields'`)
  const unknown = [...open, ...closed].find((operation) => !operations.includes(operation))
  if (unknown !== undefined) {
    throw new errors.InvalidOptions(
      `${where} ${open.includes(unknown) ? 'opens' : 'closes'} an unknown operation '${unknown}'` +
      suggestion(unknown, operations))
  }
  const both = closed.find((operation) => open.includes(operation))
  if (both !== undefined) throw new errors.InvalidOptions(`${where} both opens and closes '${both}'`)
  if (scheme !== undefined) requireScheme(where, scheme)
}

function requireScheme (where: string, scheme: SecurityScheme): void {
  const { type, in: place, name } = Object(scheme) as Partial<SecurityScheme>
  if (typeof type !== 'string') {
    throw new errors.InvalidOptions(
      `${where} needs a security scheme of OpenAPI as 'scheme', such as { type: 'http', scheme: 'bearer' }`)
  }
  if (type === 'apiKey' && place !== 'header' && place !== 'cookie') {
    throw new errors.InvalidOptions(
      `${where} needs 'header' or 'cookie' as 'in' of its scheme: logs, caches and links would keep a key in a URL`)
  }
  if (type === 'apiKey' && (typeof name !== 'string' || name === '')) {
    throw new errors.InvalidOptions(`${where} needs the name of the ${place} as 'name' of its scheme`)
  }
}

function requireParts (where: string, policy: AnyPolicy): void {
  const { authenticator, permits, open } = Object(policy) as Partial<AnyPolicy>
  const missing = [
    ...(typeof authenticator === 'function' ? [] : ["the function 'authenticator'"]),
    ...(typeof permits === 'function' ? [] : ["the function 'permits'"]),
    ...(Array.isArray(open) ? [] : ["the list 'open'"])
  ]
  if (missing.length === 0) return
  throw new errors.InvalidOptions(`${where} is not a policy, because it lacks ${missing.join(', ')}; ` +
    'use hostAuth(…) with your own login, userAuth(User), adminAuth(User), openAuth() or readOnlyAuth()')
}
