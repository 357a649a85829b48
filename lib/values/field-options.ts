/** What deleting a record does to the records that refer to it. */
export type OnDelete = 'restrict' | 'cascade' | 'set null'

/** All that can be said of a field, whatever its kind; `defineModel` refuses what its kind does not have. */
export interface FieldOptions {
  readonly nullable?: boolean
  readonly unique?: boolean
  readonly column?: string
  readonly default?: unknown
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly precision?: number
  readonly scale?: number
  readonly onDelete?: OnDelete
  readonly generated?: boolean
}

/** Characters of the longest text that every engine can keep unique: an index of PostgreSQL holds 2,704 bytes, a character up to 4. */
export const maxUniqueLength = 500

/** Characters of the longest text with a `format`: some expressions of formats take a time that grows with the square of the length. */
export const maxFormatLength = 2048

/** Characters of the longest text of a field that does not say: a page of a list holds 100 of them, and a text may be longer than a whole body. */
export const maxTextLength = 65_536

/** Characters of the longest text that a client may write. */
export function maxLengthOf ({ maxLength, unique = false, format }: FieldOptions): number {
  return maxLength ?? Math.min(unique ? maxUniqueLength : maxTextLength, format === undefined ? maxTextLength : maxFormatLength)
}
