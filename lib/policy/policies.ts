import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import { requireKnown } from '../suggest.js'
import { operations, reads, writes, type Operation } from './operations.js'
import type { AnyPolicy, Authenticate, ClosedPolicy, Identity, Policy, SecurityScheme } from './policy.js'

const findNobody: Authenticate<never> = () => null
const knowingNobody = (): Authenticate<never> => findNobody

/**
 * True if a policy may find users. False for `readOnlyAuth()` and `openAuth()`: they have no login, so under them no
 * credentials are wrong.
 */
export function knowsUsers ({ authenticator }: Pick<AnyPolicy, 'authenticator'>): boolean {
  return authenticator !== knowingNobody
}

/** Returns the default policy of the service document: anybody may read, and nobody may write, which is a 401. */
export function readOnlyAuth (): Policy {
  return Object.freeze({ open: reads, closed: writes, authenticator: knowingNobody, permits: () => false })
}

/** Returns a policy under which anybody may do everything. */
export function openAuth (): Policy {
  return Object.freeze({ open: operations, authenticator: knowingNobody, permits: () => true })
}

/** The function of {@link hostAuth} that finds the user who sends a request. */
export type FindHostUser<User extends Identity> = Authenticate<User>

/** Options of a policy with the login of the host application. */
export interface HostAuthOptions<User extends Identity = Identity> {
  /** Operations that need a user: `writes` (default), or `all`. */
  readonly protect?: 'writes' | 'all'
  /**
   * True if a user may do an operation that `protect` reserves for users; otherwise it is answered with 403. Default:
   * always true.
   */
  readonly permits?: (user: User, operation: Operation) => boolean
  /** The model of the users, if there is one. An `ownerField` must then refer to this model. */
  readonly users?: Model
  /**
   * The way credentials are sent. It is shown in the OpenAPI document and decides the challenge of a 401. Without it,
   * the challenge is that of HTTP Basic, for which browsers ask for a password.
   */
  readonly scheme?: SecurityScheme
}

const optionNames: Readonly<Record<keyof HostAuthOptions, true>> = {
  protect: true, permits: true, users: true, scheme: true
}

/**
 * Returns a policy for a login that the host application has already, such as a session or a token. Users may do
 * everything that `permits` allows. A client that is not logged in may only read, or do nothing if `protect` is `all`.
 * Policies made with the same function count as policies for the same users.
 *
 * @param authenticate  finds the user who sends a request
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function hostAuth<User extends Identity> (
  authenticate: FindHostUser<User>, options: HostAuthOptions<User> & { readonly protect: 'all' }
): ClosedPolicy<User>
export function hostAuth<User extends Identity> (
  authenticate: FindHostUser<User>, options?: HostAuthOptions<User>
): Policy<User>
export function hostAuth<User extends Identity> (
  authenticate: FindHostUser<User>, options: HostAuthOptions<User> = {}
): Policy<User> {
  if (typeof authenticate !== 'function') {
    throw new errors.InvalidOptions('hostAuth() takes a function that returns the user who sends a request, or null')
  }
  requireKnown<HostAuthOptions<User>>('hostAuth()', options, optionNames)
  checkProtection(options)
  const { protect, permits = () => true, users, scheme } = options
  return Object.freeze({
    open: protect === 'all' ? [] : reads,
    ...(users && { users }),
    ...(scheme && { scheme }),
    login: authenticate,
    permits,
    authenticator: () => authenticate
  } satisfies Policy<User>)
}

/**
 * Checks that `protect` and `permits`, options of all built-in policies with a login, are of the right types.
 *
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function checkProtection ({ protect, permits }: Pick<HostAuthOptions<never>, 'protect' | 'permits'>): void {
  if (!['writes', 'all', undefined].includes(protect)) {
    throw new errors.InvalidOptions("The option 'protect' of a policy is 'writes' or 'all'")
  }
  if (permits !== undefined && typeof permits !== 'function') {
    throw new errors.InvalidOptions("The option 'permits' of a policy is a function")
  }
}
