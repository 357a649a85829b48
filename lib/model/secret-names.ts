import { isSecret, type Column } from './column.js'

/** Words that stand in the names of columns which nobody should read; several of them as well. */
const words = new Set([
  'password', 'passwd', 'passphrase', 'pass', 'pwd', 'secret', 'token', 'hash', 'hashe', 'salt', 'otp', 'totp', 'credential', 'ssn', 'cvv', 'pin'
])
const pairs = new Set([
  'apikey', 'privatekey', 'accesskey', 'secretkey', 'encryptionkey', 'signingkey', 'sessionkey', 'authkey', 'activationkey', 'recoverycode', 'backupcode'
])
/** Ends of words that are written together, as PostgreSQL makes them of names without quotes. */
const ends = /(?:password|passwd|passphrase|secret|token|apikey)$/
/** What tells how many there are, or of what kind. */
const harmless = /(?:^|_)(?:count|type|length|limit|used)$/

/** Whether a column holds a secret, as far as its kind or its name tells: `password_hash`, `apiKey`, `AccessToken`, `resettoken`. */
export function looksSecret (column: Column): boolean {
  return isSecret(column) || [column.field, column.name].some(isSecretName)
}

export function isSecretName (name: string): boolean {
  const text = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2').toLowerCase()
  if (harmless.test(text)) return false
  const parts = text.split(/[^a-z]+/).map((part) => part.replace(/(?<!s)s$/, ''))
  return parts.some((part, index) => words.has(part) || ends.test(part) || pairs.has(part) || pairs.has(`${part}${parts[index + 1] ?? ''}`))
}
