/**
 * Effect of deleting a record that other records refer to: the deletion is refused, the other records are deleted too,
 * or their foreign keys become null.
 */
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
  readonly clientGenerated?: boolean
  readonly onUpdate?: string
  readonly readOnly?: boolean
  readonly key?: string
  /** Regular expression that a primary key of text must match. No model declares this option; the plugin adds it. */
  readonly pattern?: string
}

export interface CommonOptions<Value> {
  /** True if the field may be null; then it may also be left out on create. Default false. */
  readonly nullable?: boolean
  /** Value of a field that is left out on create, or a function that returns it for each record. */
  readonly default?: Value | null | (() => Value)
  /** True if no two records may have the same value. Two nulls do not count as the same value. Default false. */
  readonly unique?: boolean
  /** Name of the column, if it is not the field's name (for a foreign key: the name with `_id`). */
  readonly column?: string
  /**
   * True if only the database gives the column its values: it computes them, or has a default that no field can have.
   * The API never writes the column. Default false.
   */
  readonly readOnly?: boolean
}

export interface TextOptions extends CommonOptions<string> {
  /** Minimum number of characters (code points of Unicode). A shorter text is refused with 400. */
  readonly minLength?: number
  /**
   * Maximum number of characters (code points of Unicode). A longer text is refused with 400. Default 65,536. The
   * default and the highest value are 500 with `unique`, 2,048 with `format`, and 100 for the field `id`. The default
   * is also 500 for a field that the option `unique` or `key` of the model names. With `enum`, the default is no limit,
   * except for the field `id`.
   */
  readonly maxLength?: number
  /** Format of `ajv-formats`: `email`, `uri`, `hostname`, `ipv4`, … A text of another form is refused with 400. */
  readonly format?: string
  readonly enum?: readonly string[]
}

export interface RangeOptions extends CommonOptions<number> {
  readonly minimum?: number
  readonly maximum?: number
}

export interface DecimalOptions extends CommonOptions<string> {
  /** Digits before and after the point together, 1 to 15. Default 15. A number with more is refused with 400. */
  readonly precision?: number
  /** Digits after the point, 0 to `precision`. Default 2. A number with more is refused with 400. */
  readonly scale?: number
}

export interface PasswordOptions extends Omit<CommonOptions<string>, 'unique'> {
  readonly minLength?: number
  readonly maxLength?: number
}

export interface ForeignKeyOptions extends CommonOptions<number | string> {
  /** Effect of deleting the referenced record. Default `restrict`: deleting it is refused with 409. */
  readonly onDelete?: OnDelete
  /**
   * Name of the key in records, bodies and filters, if it is not the field's name with `_id`. The column has this name,
   * too, if there is no `column`.
   */
  readonly key?: string
}

export interface DatetimeOptions extends CommonOptions<string | 'now'> {
  /**
   * If `'now'`, each update that changes something sets the field to the moment of the update. Clients cannot write
   * such a field, so it needs a `default`, or must be `nullable`.
   */
  readonly onUpdate?: 'now'
}

export interface UuidOptions extends CommonOptions<string> {
  /**
   * True if a create may contain the UUID of the new record, of any version. If it contains none, the plugin makes the
   * UUID. Only the primary key `id` may have this option. Default false.
   */
  readonly clientGenerated?: boolean
}

/** Options of `key()`, an integer primary key. */
export interface KeyOptions {
  /** Name of the column, if it is not `id`. */
  readonly column?: string
  /** True if the database makes the integers; otherwise a create must bring its own. Default true. */
  readonly generated?: boolean
}

/**
 * Maximum number of characters of a unique text, so that every engine can index it. An entry of an index has room for
 * 2,704 bytes on PostgreSQL, and a character takes up to 4.
 */
export const maxUniqueLength = 500

/**
 * Maximum number of characters of a primary key of text. By default, Fastify's router accepts at most 100 UTF-16 units
 * as a key in a path (`maxParamLength`). So no path would lead to a record with a longer key.
 */
export const maxKeyLength = 100

/** Matches the texts that a path can hold as the key of a record: URLs drop the segments `.` and `..`. */
export const keyPattern = '^(?!\\.{1,2}$)'

/**
 * Characters of the longest text with a `format`. The time of some regular expressions of formats grows with the square
 * of the length.
 */
export const maxFormatLength = 2048

/**
 * Characters of the longest text of a field without `maxLength`. By default, one page of a list has room for 64 such
 * texts in ASCII (`limits.pageBytes`).
 */
export const maxTextLength = 65_536

/** Maximum number of digits of a decimal. A floating-point number tells all decimals of up to 15 digits apart. */
export const maxPrecision = 15

/** Returns how many digits a decimal of a field may have: in all (`precision`), and after the point (`scale`). */
export function digitsOf (
  { precision = maxPrecision, scale = 2 }: FieldOptions
): { readonly precision: number, readonly scale: number } {
  return { precision, scale }
}

/** Returns the maximum number of characters in a text of a field without `enum`. */
export function maxLengthOf ({ maxLength, unique = false, format }: FieldOptions): number {
  return maxLength ??
    Math.min(unique ? maxUniqueLength : maxTextLength, format === undefined ? maxTextLength : maxFormatLength)
}
