import { maxLengthOf, type FieldOptions } from '../values/field-options.js'
import type { Json } from '../values/values.js'
import type { Storage } from './storage.js'

// Servers cut blanks at the end of a text without an error.

/** True for a text with a blank at its end, which a column of the type `char` does not keep. */
export function endsInBlank (value: Json): boolean {
  return String(value).endsWith(' ')
}

/** Matches white space at the end of a text. MariaDB also cuts tabs and line breaks. */
const endsInSpace = /\s$/

/**
 * Returns the part of a {@link Storage} for texts in a column that keeps at most `length` characters, if the field
 * takes longer texts; otherwise undefined. A text that would be cut is refused. The database itself refuses a longer
 * text that does not end in white space.
 */
export function cutTo (
  length: number, options: FieldOptions
): Required<Pick<Storage, 'alters' | 'keepsShown'>> | undefined {
  if (maxLengthOf(options) <= length) return undefined
  return { alters: (value) => endsInSpace.test(String(value)) && [...String(value)].length > length, keepsShown: true }
}

/** Bytes of a character in UTF-8, at most. */
const maxCharacterBytes = 4

/** Returns the same as {@link cutTo} for a column that keeps at most `bytes` bytes in UTF-8. */
export function cutToBytes (bytes: number, options: FieldOptions): ReturnType<typeof cutTo> {
  if (maxLengthOf(options) * maxCharacterBytes <= bytes) return undefined
  return {
    alters: (value) => endsInSpace.test(String(value)) && Buffer.byteLength(String(value)) > bytes, keepsShown: true
  }
}
