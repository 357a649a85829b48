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
