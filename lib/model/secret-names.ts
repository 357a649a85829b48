import type { StorageName } from '../engines/storage.js'
import { isSecret, valueKindOf, type Column } from './column.js'
import type { Model } from './model.js'

/**
 * Patterns that the names of secrets match, in the form that {@link snake} returns: words in lower case and singular.
 * The `_` between words may be missing, because PostgreSQL makes `passwordhash` of `PasswordHash`.
 */
const secretNames: readonly RegExp[] = [
  // These match at any place in a name, because no harmless name contains these letters.
  /pass_?(?:word|wd|wort|phrase|code|key)|kennwort|mot_?de_?passe|contrasena|(?:seed|recovery|backup)_?(?:phrase|word)/,
  /credential|secret(?!ar|ion|iv)|token(?!i[sz])|[cx]srf|mnemonic|security_?stamp|magic_?link/,
  // These match only at the end of a word.
  /(?:hashe?|jwt|otp|pwd|cvv|cvc|(?:remember|activation|token|auth|(?<!p)reset)_?digest)(?:_|$)/,
  // These match a whole word, even if one of the listed words is written before it without a `_`.
  /(?:^|_|user|admin|account|login|db|mail|smtp|ftp)(?:pass|pw)(?:_|$)/,
  /(?:^|_|user|card|account|login|atm)pin(?:_|$)/,
  /(?:^|_|user|form|auth|pwd|pw|hash)salt(?:_|$)/,
  /(?:^|_)(?:psk|ssn|nonce|otep)(?:_|$)/,
  // Only certain keys, codes and ids are secrets.
  /(?:api|priv(?:ate)?|access|enc(?:rypt(?:ion|ed))?|wallet|signing)_?key(?:_|$)/,
  /(?:hmac|ssh|gpg|pgp|rsa|aes|tls|ssl|(?<!g)host|(?<!con)cert(?:ificate)?|master|consumer|shared)_?key(?:_|$)/,
  /(?:deploy|licen[cs]e|session|auth|activation|confirm(?:ation)?|verification|recovery|(?<!p)reset|otp)_?key(?:_|$)/,
  /(?:^|_|user)act_?key(?:_|$)/,
  /(?:recovery|backup|scratch|(?<!p)reset|verif(?:y|ication)|confirm(?:ation)?|activation|unlock)_?code(?:_|$)/,
  /(?:invit(?:e|ation)|auth(?:ori[sz]ation)?|access|security|login|sms|otp|mfa|tfa|two_?factor)_?code(?:_|$)/,
  /sess(?:ion)?_?(?:id|data|cookie)(?:_|$)/,
  /(?:^|_|user)auth_?data(?:_|$)|(?:two_?factor|mfa|tfa)_?remember(?:_|$)/,
  /code_?verifier|security_?answer|card_?number|(?:card|(?:^|_)cc)_?(?:number|num|no)(?:_|$)/,
  // This leaves out names about cookies, such as a consent to them.
  /cookie(?:_?(?:value|data))?$/
]

/**
 * Patterns of names of columns that hold only a fact about secrets: a number, a kind, a date, or whether there is one.
 * A name that matches is not that of a secret, even if it matches {@link secretNames}, too.
 */
const harmlessNames: readonly RegExp[] = [
  /(?:changed|updated|created|modified|expires?|sent|used)_?(?:at|on|date|time)$/,
  /^(?:is|has|must|needs?|requires?)(?:_|(?=password|secret|token|otp))|^mustchange/
]
/** Matches the fact at the end of a name that holds only a fact, if {@link beforeFact} matches what is before it. */
const fact =
  /(?:count|type(?:_?id)?|length|limit|rate|used|changed?|expire|expiry|expiration|enabled|required|attempt)$/
/** Facts stand alone or after one of these words: not at the end of `exchange`, `unused`, `corporate`. */
const beforeFact =
  /(?:^|_|(?:word|wd|phrase|code|secret|token|otp|pin|key|credential|hash|salt|jwt|cookie)s?|last|min|max)$/

/**
 * Names of columns that hold secrets only in tables of secrets, keys, sessions, verifications or second factors. In the
 * verifications of better-auth, `identifier` holds the token of a password reset.
 */
const bareNames = new Set([
  'key', 'keydata', 'key_data', 'value', 'code', 'config', 'data', 'payload', 'sid', 'sess', 'identifier'
])

/**
 * Patterns of names of tables, in the form of {@link secretNames}. In these tables, columns with {@link bareNames} hold
 * secrets. The same is true of tables whose names match {@link secretNames}.
 */
const secretTables: readonly RegExp[] = [
  /(?:session|verification|authenticator)$/,
  /(?:mail|account|user|phone|sms|sign_?up|login|registration)_?confirmation$/,
  /(?:^|_)(?:mfa|two_?factor)(?:_|$)|second_?factor/,
  /(?:^|_)jwk(?:_|$)|key_?(?:store|ring|pair)$/
]

/**
 * Matches the names of tables of OAuth, of codes of devices, and of invitations. Leaves out names with `coauthor`,
 * which contain `oauth` by chance.
 */
const grantTable = /(?:^|_)o_auth|(?<!c)oauth(?!or)|oidc|device_?(?:code|auth)|invit(?:e|ation)$/
/** Names of columns with codes that give access or a token: secrets in tables that {@link grantTable} matches. */
const grantCodes = new Set(['code', 'device_code', 'user_code'])

/** Matches the names of tables of users. In these, a text `activation` is a code that gives access, as in Joomla. */
const userTable = /(?:user|account|member)$/

/**
 * Matches names of columns that, in a table of sessions, may hold the text of the cookie, such as `session_token`. If a
 * table of sessions has no such column, the cookie may hold the `id`. An `id` that is a text is then a secret.
 */
const cookieName = /^(?:(?:session|auth)_?)?(?:token|secret|key)(?:_?hash)?$|^hashed_?token$|^s(?:ession_?)?id$/

/** Kinds of values that are never secrets, whatever the name of their column. */
const openKinds: ReadonlySet<StorageName | undefined> = new Set<StorageName>(['boolean', 'date', 'datetime'])
const integerKinds: ReadonlySet<StorageName | undefined> = new Set<StorageName>(['key', 'integer', 'bigint'])

/** True if the kind and the names of a field, its table and the table's columns suggest that the field is a secret. */
export function looksSecret ({ table, columns }: Pick<Model, 'table' | 'columns'>, column: Column): boolean {
  const { storage } = valueKindOf(column)
  const named = { name: table, columns: columns.map(({ name }) => name) }
  return isSecret(column) || [column.field, column.name].some((name) => isSecretColumn(name, storage, named))
}

/** The names of a table and its columns, by which secrets are recognized. */
export interface NamedTable {
  readonly name: string
  /** Names of all columns of the table. */
  readonly columns: readonly string[]
}

/**
 * True if the name of a column, the kind of its values and the names of its table suggest that it holds a secret.
 * `kind` is undefined if no field can hold the values; then only the names count.
 */
export function isSecretColumn (name: string, kind: StorageName | undefined, table?: NamedTable): boolean {
  if (openKinds.has(kind)) return false
  // A numeric `session_id` refers to a talk at a conference, or to a session whose token is in another column.
  if (integerKinds.has(kind)) return isSecretName(name.replace(/_?id_?$/i, ''))
  return isSecretName(name) || (table !== undefined && isSecretIn(table, name, kind))
}

/** True if a column holds a secret because of its table, although its name would be harmless in other tables. */
function isSecretIn ({ name: table, columns }: NamedTable, name: string, kind: StorageName | undefined): boolean {
  const title = snake(table)
  if (bareNames.has(name.toLowerCase()) && (isSecretName(table) || secretTables.some((names) => names.test(title)))) {
    return true
  }
  if (grantTable.test(title) && grantCodes.has(snake(name))) return true
  if (userTable.test(title) && name.toLowerCase() === 'activation') return true
  // If sessions are found by a text `id`, the cookie holds this text. Whoever knows it is logged in.
  const isKey = name.toLowerCase() === 'id' && kind === 'text' && /session$/.test(title)
  return isKey && !columns.some((column) => cookieName.test(snake(column)))
}

/**
 * True if a name is that of a secret: `password_hash`, `apiKey`, `AccessToken`, `resettoken`. False for a fact about a
 * secret: `password_changed_at`.
 */
export function isSecretName (name: string): boolean {
  const text = snake(name)
  return secretNames.some((pattern) => pattern.test(text)) && !isHarmless(text)
}

function isHarmless (text: string): boolean {
  return harmlessNames.some((pattern) => pattern.test(text)) ||
    (fact.test(text) && beforeFact.test(text.replace(fact, '')))
}

/** Returns the words of a name, in lower case and without the `s` of a plural, with `_` between them. */
function snake (name: string): string {
  const text = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2').toLowerCase()
  const words = text.split(/[^a-z]+/).filter((word) => word !== '')
  return words.map((word) => word.length > 3 ? word.replace(/(?<!s)s$/, '') : word).join('_')
}
