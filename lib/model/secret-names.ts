import { isSecret, type Column } from './column.js'

/** Words that stand in the names of columns which nobody should read. */
const words = new Set(['password', 'passwd', 'passphrase', 'pwd', 'secret', 'secrets', 'token', 'hash', 'salt', 'otp', 'totp', 'credential', 'credentials', 'ssn', 'cvv', 'pin'])
const pairs = new Set(['apikey', 'privatekey', 'accesskey', 'secretkey', 'encryptionkey', 'signingkey'])

/** Whether a column holds a secret, as far as its kind or its name tells: `password_hash`, `apiKey`, `AccessToken`. */
export function looksSecret (column: Column): boolean {
  return isSecret(column) || [column.field, column.name].some(isSecretName)
}

function isSecretName (name: string): boolean {
  const parts = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase().split(/[^a-z]+/)
  return parts.some((part, index) => words.has(part) || pairs.has(part) || pairs.has(`${part}${parts[index + 1] ?? ''}`))
}
