import { Type } from '@sinclair/typebox'
import {
  maxLengthOf, type CommonOptions, type DatetimeOptions, type DecimalOptions, type FieldOptions, type ForeignKeyOptions,
  type KeyOptions, type PasswordOptions, type RangeOptions, type TextOptions, type UuidOptions
} from '../values/field-options.js'
import * as values from '../values/values.js'
import { compositeKey } from './composite-key.js'
import type { FieldKindRow, KindRow } from './field-kind-row.js'
import { comparisons, equality, matching } from './operators.js'

const booleanTexts = new Map([['true', true], ['1', true], ['false', false], ['0', false]])
const valueOperators = [...equality, ...comparisons] as const
/**
 * Returns the most characters that a text may have: `maxLength` or its default. Undefined for an `enum` without
 * `maxLength`, because a value must then be one of the listed texts, whose lengths are known.
 */
const textLength = (options: FieldOptions) => options.enum === undefined ? maxLengthOf(options) : options.maxLength
const length = ({ minLength, maxLength }: FieldOptions) => defined({ minLength, maxLength })
const range = ({ minimum, maximum }: FieldOptions) => defined({ minimum, maximum })

/**
 * Row of the kind `foreignKey`. The row of the kind `key`, an integer primary key, is the same except for `options`.
 */
const reference = {
  options: { onDelete: true, key: true },
  expects: 'the id of a record',
  schema: () => Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  accept: values.plainNumber,
  parse: values.safeInteger,
  operators: valueOperators,
  storage: 'key'
} as const satisfies KindRow<number, ForeignKeyOptions>

/** Kinds of fields, with one row for each kind. */
const table = {
  text: {
    options: { minLength: true, maxLength: true, format: true, enum: true },
    expects: 'text without NUL characters and broken surrogate pairs',
    schema: (options) => {
      const { minLength, format, enum: choices, pattern } = options
      return Type.String(defined({ minLength, maxLength: textLength(options), format, enum: choices, pattern }))
    },
    accept: values.storableText,
    parse: values.storableText,
    operators: [...valueOperators, ...matching],
    storage: 'text'
  } as const satisfies KindRow<string, TextOptions>,
  integer: {
    options: { minimum: true, maximum: true },
    expects: 'a whole number from -2147483648 to 2147483647',
    schema: (options) => Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1, ...range(options) }),
    accept: (value) => Object.is(value, -0) ? undefined : values.integer(String(value)),
    parse: values.integer,
    operators: valueOperators,
    storage: 'integer'
  } as const satisfies KindRow<number, RangeOptions>,
  bigint: {
    options: {},
    expects: 'a whole number of 64 bits as text, such as "12"',
    schema: () => Type.String({ pattern: values.bigintPattern, maxLength: 20 }),
    accept: values.bigintText,
    parse: values.bigintText,
    operators: valueOperators,
    storage: 'bigint'
  } as const satisfies KindRow<string, CommonOptions<string>>,
  number: {
    options: { minimum: true, maximum: true },
    expects: 'a finite number other than -0',
    schema: (options) => Type.Number(range(options)),
    accept: values.plainNumber,
    parse: values.finiteNumber,
    operators: valueOperators,
    storage: 'number'
  } as const satisfies KindRow<number, RangeOptions>,
  decimal: {
    options: { precision: true, scale: true },
    expects: 'a decimal number that looks like "12.50", with no more digits than its field takes',
    schema: () => Type.String({ pattern: values.decimalPattern, maxLength: 18 }),
    accept: values.decimal,
    parse: values.decimal,
    operators: valueOperators,
    storage: 'decimal'
  } as const satisfies KindRow<string, DecimalOptions>,
  boolean: {
    options: {},
    expects: 'true, false, 1 or 0',
    schema: () => Type.Boolean(),
    accept: (value) => value,
    parse: (text) => booleanTexts.get(text),
    operators: valueOperators,
    storage: 'boolean'
  } as const satisfies KindRow<boolean, CommonOptions<boolean>>,
  datetime: {
    options: { onUpdate: true },
    expects: 'an existing date and time as YYYY-MM-DD HH:MM:SS',
    schema: () => Type.String({ maxLength: 40 }),
    accept: values.datetime,
    parse: values.datetime,
    operators: valueOperators,
    now: (moment) => moment.toISOString().slice(0, 19).replace('T', ' '),
    storage: 'datetime'
  } as const satisfies KindRow<string, DatetimeOptions>,
  date: {
    options: {},
    expects: 'an existing date as YYYY-MM-DD',
    schema: () => Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
    accept: values.date,
    parse: values.date,
    operators: valueOperators,
    now: (moment) => moment.toISOString().slice(0, 10),
    storage: 'date'
  } as const satisfies KindRow<string, CommonOptions<string>>,
  json: {
    options: {},
    expects: 'JSON that can be stored unchanged, at most 64 levels deep',
    schema: () => Type.Unknown(),
    accept: values.storableJson,
    parse: () => undefined,
    operators: ['is'],
    storage: 'json'
  } as const satisfies KindRow<values.Json, CommonOptions<unknown>>,
  uuid: {
    options: { clientGenerated: true },
    expects: 'a UUID',
    schema: () => Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }),
    accept: values.uuid,
    parse: values.uuid,
    operators: valueOperators,
    storage: 'uuid'
  } as const satisfies KindRow<string, UuidOptions>,
  password: {
    options: { minLength: true, maxLength: true },
    expects: 'text of at most 1024 bytes, without control characters, line separators and broken surrogate pairs',
    schema: (options) => Type.String(length(options)),
    accept: (text) =>
      Buffer.byteLength(text) > maxPasswordBytes || unsendable.test(text) ? undefined : values.storableText(text),
    parse: () => undefined,
    operators: [],
    isSecret: true,
    storage: 'text'
  } as const satisfies KindRow<string, PasswordOptions>,
  foreignKey: reference,
  key: { ...reference, options: { generated: true } } as const satisfies KindRow<number, KeyOptions>,
  compositeKey
}

/**
 * Matches control characters and line separators. A password must not contain them, because HTTP Basic cannot send them
 * (RFC 7617, section 2).
 */
const unsendable = /[\p{Cc}\u2028\u2029]/u

export type FieldKind = keyof typeof table
/** Type of the JSON values of each kind of field. */
export type KindValues = {
  [Kind in FieldKind]: Exclude<ReturnType<(typeof table)[Kind]['accept']>, undefined>
}
/** Filter operators of each kind, as literal types. */
export type KindOperators = { readonly [Kind in FieldKind]: (typeof table)[Kind]['operators'][number] }
export const fieldKinds: Readonly<Record<FieldKind, FieldKindRow>> = table

/**
 * Bytes that a password may have in UTF-8. A longer one is refused on write. At login it never matches and is not
 * hashed, so that no client can raise the cost of a login with a huge password.
 */
export const maxPasswordBytes = 1024

/** Returns the options that are not undefined. */
function defined<T extends object> (options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as
    { [K in keyof T]?: Exclude<T[K], undefined> }
}
