/** Effect of deleting a record on the records that refer to it. */
export type OnDelete = 'restrict' | 'cascade' | 'set null'

/** Options of a field of any kind. `defineModel` refuses those that its kind does not have. */
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

/**
 * Characters of the longest text that every engine can keep unique. An index of PostgreSQL holds 2,704 bytes, and a
 * character takes up to 4.
 */
export const maxUniqueLength = 500

/**
 * Characters of the longest text with a `format`. The time of some regular expressions of formats grows with the square
 * of the length.
 */
export const maxFormatLength = 2048

/**
 * Characters of the longest text of a field without `maxLength`. A page of a list holds 100 such texts, and a text may
 * be longer than a whole body.
 */
export const maxTextLength = 65_536

/** Returns the characters of the longest text that a client may write. */
export function maxLengthOf ({ maxLength, unique = false, format }: FieldOptions): number {
  return maxLength ??
    Math.min(unique ? maxUniqueLength : maxTextLength, format === undefined ? maxTextLength : maxFormatLength)
}
