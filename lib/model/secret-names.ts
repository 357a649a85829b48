import type { StorageName } from '../engines/storage.js'
import { isSecret, valueKindOf, type Column } from './column.js'

/**
 * What the names of secrets have in them. Words are in lower case and singular, with `_` between them, which may be
 * missing: PostgreSQL makes `passwordhash` of `PasswordHash`.
 */
const patterns: readonly RegExp[] = [
  // In any place, since no other word has these letters.
  /pass_?(?:word|wd|wort|phrase|code|key)|kennwort|mot_?de_?passe|contrasena|(?:seed|recovery|backup)_?(?:phrase|word)/,
  /credential|secret(?!ar|ion|iv)|token(?!i[sz])|[cx]srf|mnemonic|security_?stamp|magic_?link/,
  // At the end of a word.
  /(?:hashe?|jwt|otp|pwd|cvv|cvc|(?:remember|activation|token|auth|(?<!p)reset)_?digest)(?:_|$)/,
  // As a word, or behind what it is often written together with.
  /(?:^|_|user|admin|account|login|db|mail|smtp|ftp)(?:pass|pw)(?:_|$)/,
  /(?:^|_|user|card|account|login|atm)pin(?:_|$)/,
  /(?:^|_|user|form|auth|pwd|pw|hash)salt(?:_|$)/,
  /(?:^|_)(?:psk|ssn|nonce|otep)(?:_|$)/,
  // Of keys, codes and ids, those of certain kinds.
  /(?:api|priv(?:ate)?|access|enc(?:rypt(?:ion|ed))?|wallet|signing|hmac|ssh|gpg|pgp|rsa|aes|master|consumer|shared)_?key(?:_|$)/,
  /(?:deploy|licen[cs]e|session|auth|activation|confirm(?:ation)?|verification|recovery|(?<!p)reset|otp)_?key(?:_|$)/,
  /(?:^|_|user)act_?key(?:_|$)/,
  /(?:recovery|backup|scratch|(?<!p)reset|verif(?:y|ication)|confirm(?:ation)?|activation|unlock)_?code(?:_|$)/,
  /(?:invit(?:e|ation)|auth(?:ori[sz]ation)?|access|security|login|sms|otp|mfa|tfa|two_?factor)_?code(?:_|$)/,
  /sess(?:ion)?_?(?:id|data|cookie)(?:_|$)/,
  /code_?verifier|security_?answer|card_?number|(?:card|(?:^|_)cc)_?(?:number|num|no)(?:_|$)/,
  // Not what is asked or told about cookies.
  /cookie(?:_?(?:value|data))?$/
]

/** What tells how many there are, of what kind, since when, or whether there is one at all. */
const harmless: readonly RegExp[] = [
  // As a word, or behind what it is often written together with: not the end of `exchange`, `unused`, `corporate`.
  /(?<=^|_|(?:word|wd|phrase|code|secret|token|otp|pin|key|credential|hash|salt|jwt|cookie)s?|last|min|max)(?:count|type|length|limit|rate|used|changed?|expire|expiry|expiration|enabled|required|attempt)$/,
  /(?:changed|updated|created|modified|expires?|sent|used)_?(?:at|on|date|time)$/,
  /^(?:is|has|must|needs?|requires?)(?:_|(?=password|secret|token|otp))|^mustchange/
]

/** What a table of secrets calls each of them, and a table of sessions or of what verifies an address. */
const bareNames = new Set(['key', 'value', 'code', 'data', 'payload', 'sid', 'sess'])

/** Kinds of values that are no secrets, whatever their name. */
const openKinds: ReadonlySet<StorageName | undefined> = new Set<StorageName>(['boolean', 'date', 'datetime'])
const wholeNumbers: ReadonlySet<StorageName | undefined> = new Set<StorageName>(['key', 'integer', 'bigint'])

/** Whether a field holds a secret, as far as its kind or its names tell. */
export function looksSecret (column: Column): boolean {
  const { storage } = valueKindOf(column)
  return isSecret(column) || [column.field, column.name].some((name) => isSecretColumn(name, storage))
}

/** Whether a column holds a secret, as far as its name and the kind of its values tell, or the name of its table. */
export function isSecretColumn (name: string, kind: StorageName | undefined, table = ''): boolean {
  if (openKinds.has(kind)) return false
  // A session whose id is a number is a talk at a conference, or a session that has a token as well.
  if (wholeNumbers.has(kind)) return isSecretName(name.replace(/_?id_?$/i, ''))
  return isSecretName(name) || (bareNames.has(name.toLowerCase()) && (isSecretName(table) || /(?:session|verification)s?$/i.test(table)))
}

/** Whether a name is that of a secret: `password_hash`, `apiKey`, `AccessToken`, `resettoken`. */
export function isSecretName (name: string): boolean {
  const text = wordsOf(name).join('_')
  return patterns.some((pattern) => pattern.test(text)) && !harmless.some((pattern) => pattern.test(text))
}

/** The words of a name, in lower case and without the `s` of a plural. */
function wordsOf (name: string): readonly string[] {
  const text = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2').toLowerCase()
  const words = text.split(/[^a-z]+/).filter((word) => word !== '')
  return words.map((word) => word.length > 3 ? word.replace(/(?<!s)s$/, '') : word)
}
