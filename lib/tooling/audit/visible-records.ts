import type { Operator } from '../../fields/operators.js'
import { pathName } from '../../plan/path.js'
import { everything, type Scope } from '../../plan/viewer.js'
import { madeUpUsers, placeholderName, type MadeUpName, type MadeUpUser } from '../../policy/made-up-users.js'
import { withTypedValues } from '../../policy/typed-scope.js'
import { scopeFor, type ScopeRule } from '../../policy/visibility.js'
import type { Resource } from '../../resource/resource.js'
import { looksForAdmin, watched } from './audience.js'

/** The records that a scope shows to one of the {@link madeUpUsers}, or the failure of the scope. */
export type ScopeOutcome =
  | { readonly sees: 'everything' | 'nothing' }
  | {
    readonly sees: 'some'
    /** Conditions in words, all of which hold: `company = user.company`. */
    readonly conditions: readonly string[]
  }
  | {
    /** The scope throws, or returns a value that is not a scope. The API would answer 500 to such a user. */
    readonly sees: 'fails'
    readonly message: string
  }

/**
 * The records of a resource that a user with made-up properties sees: a `user`, an `admin`, or `nobody`, a client that
 * is not logged in.
 */
export type VisibleRecords = {
  readonly resource: string
  readonly user: MadeUpName
  /**
   * Properties such as `user.kind` that the scope reads, but does not return as values. Users with other values of them
   * may see other records.
   */
  readonly dependsOn: readonly string[]
} & ScopeOutcome

/** Returns what each of the {@link madeUpUsers} of a resource sees. Empty if the resource has no scope. */
export function visibleRecordsOf ({ name, policy, scopeRule }: Resource): readonly VisibleRecords[] {
  if (scopeRule === undefined) return []
  const evaluations = madeUpUsers(policy).map((user) => ({ user: user.name, ...evaluate(scopeRule, user) }))
  const returned = new Set(evaluations.flatMap((evaluation) => evaluation.returned))
  return evaluations.map(({ user, outcome, dependsOn, returned: own }) => {
    // `({ admin, id }) => admin ? {} : { id }` reads the id of an admin, too, but does not depend on it.
    const unsure = dependsOn.filter((property) => own.includes(property) || !returned.has(property))
    return { resource: name, user, dependsOn: unsure, ...outcome }
  })
}

/** Result of {@link evaluate}. */
export interface Evaluation {
  /** Conditions of the scope. Empty, too, if the function `scope` fails; then only `outcome` tells the difference. */
  readonly scope: Scope
  /** Says if the made-up user sees all records, none, or those that meet conditions, or that `scope` failed. */
  readonly outcome: ScopeOutcome
  readonly dependsOn: VisibleRecords['dependsOn']
  /** Properties whose values the scope returned. */
  readonly returned: readonly string[]
}

/**
 * Calls the function `scope` of a resource with one of the {@link madeUpUsers}, and returns the result. If `scope`
 * throws, or returns a value that is not a scope, `outcome.sees` is `fails`.
 */
export function evaluate (rule: ScopeRule, user: MadeUpUser): Evaluation {
  let given: unknown
  const isAdminLook = looksForAdmin(rule.policy)
  const looks: string[] = []
  const tell = (name?: PropertyKey): void => { if (!isAdminLook(name)) looks.push(String(name ?? '*')) }
  const scopeOf: ScopeRule['scope'] = (identity) => {
    given = rule.scope(identity && watched(identity, tell))
    return withTypedValues(rule.model, given)
  }
  try {
    const scope = scopeFor({ ...rule, scope: scopeOf }, user.identity)
    return { scope, outcome: outcomeOf(scope, given, user), ...usesOf(looks, given, user) }
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message : message
    return { scope: everything, outcome: { sees: 'fails', message: reason }, dependsOn: [], returned: [] }
  }
}

/**
 * Returns the properties whose values a scope returned, and those that it read more often than it returned them, such
 * as a role. Flags for admins are not among the `looks`, because the scope is evaluated with and without the flag.
 */
function usesOf (
  looks: readonly string[], given: unknown, { names }: MadeUpUser
): Pick<Evaluation, 'dependsOn' | 'returned'> {
  const returned = Object.values(Object(given)).flat().map(String).flatMap((value) => [
    ...[...names].filter(([made]) => value.includes(String(made))).map(([, name]) => name),
    ...[...value.matchAll(/<(user\.[^<>]+)>/g)].map(([, name = '']) => name)
  ]).map((path) => path.split('.', 2).join('.'))
  const rest = looks.map((name) => `user.${name}`)
  for (const name of returned) if (rest.includes(name)) rest.splice(rest.indexOf(name), 1)
  return { dependsOn: [...new Set(rest)], returned }
}

function outcomeOf (scope: Scope, given: unknown, user: MadeUpUser): ScopeOutcome {
  if (scope.length === 0) return { sees: 'everything' }
  if (scope.some(({ operator, values }) => operator === 'in' && values.length === 0)) return { sees: 'nothing' }
  const values: readonly unknown[] = Object.values(Object(given))
  const conditions = scope.map(({ path, operator }, index) =>
    `${pathName(path)} ${symbols[operator] ?? operator} ${describe(values[index], user)}`)
  return { sees: 'some', conditions }
}

const symbols: Readonly<Partial<Record<Operator, string>>> = {
  eq: '=', ne: '!=', lt: '<', lte: '<=', gt: '>', gte: '>='
}

function describe (value: unknown, user: MadeUpUser): string {
  if (Array.isArray(value)) return `[${value.map((item) => describe(item, user)).join(', ')}]`
  return placeholderName(value) ?? user.names.get(value) ?? JSON.stringify(value)
}
