import { digitsOf, type FieldOptions } from './field-options.js'

/** Value as it travels in JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The `id` of a record: an integer, a UUID, a text, or for a key of several columns their values joined to a text. */
export type RecordKey = number | string

/** True if a value has a type that the `id` of a record can have: a number or a text. */
export function isRecordKey (value: unknown): value is RecordKey {
  return typeof value === 'number' || typeof value === 'string'
}

/**
 * True if a result is a promise, also one of another library. `instanceof` would not tell, because an application may
 * replace `Promise`, and async functions return that of the language.
 */
export function isPromise<Result> (result: Result | PromiseLike<Result>): result is Promise<Result> {
  return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

const int32 = 2 ** 31
const int64 = 2n ** 63n
const integerText = /^(?:0|-?[1-9]\d*)$/
const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const decimalText = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?$/
const uuidText = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const dateText = /^(\d{4})-(\d\d)-(\d\d)$/
const datetimeText =
  /^(\d{4})-(\d\d)-(\d\d)(?:[ Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:([Zz])| ?([+-])(\d\d)(?::?(\d\d))?)?)?$/

/**
 * Levels to which JSON in a json field may nest; deeper JSON is refused with 400. The limit is far below what would
 * exhaust the stack of JSON.stringify.
 */
const maxJsonDepth = 64

/**
 * Returns the text itself, or undefined if engines cannot store it: it has a NUL character or half a surrogate pair.
 */
export function storableText (text: string): string | undefined {
  return text.isWellFormed() && !text.includes('\0') ? text : undefined
}

/**
 * Returns the integer of a text such as `-12`, or undefined if it lies outside -2^31 … 2^31-1, or if the text has
 * another form, such as `+1`, `007`, `-0` or `1.0`.
 */
export function integer (text: string): number | undefined {
  const value = safeInteger(text)
  return value !== undefined && value >= -int32 && value < int32 ? value : undefined
}

/** Returns the integer of a text as {@link integer} does, but within ±(2^53-1). */
export function safeInteger (text: string): number | undefined {
  if (!integerText.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

/**
 * Returns the text itself if it is an integer in the form that {@link integer} accepts and lies within -2^63 … 2^63-1;
 * otherwise undefined.
 */
export function bigintText (text: string): string | undefined {
  if (!integerText.test(text) || text.length > 20) return undefined
  const value = BigInt(text)
  return value >= -int64 && value < int64 ? text : undefined
}

/** Regular expression that matches the texts that {@link bigintText} accepts. */
export const bigintPattern = `^(0|-?(${upTo(String(int64 - 1n)).join('|')})|-${int64})$`

/** Returns alternatives of a regular expression that match the positive integers up to a maximum. */
function upTo (maximum: string): string[] {
  const smaller = Array.from(maximum, (digit, index) => {
    const least = index === 0 ? 1 : 0
    const most = Number(digit) - 1
    return most < least ? [] : [`${maximum.slice(0, index)}[${least}-${most}][0-9]{${maximum.length - index - 1}}`]
  })
  return [`[1-9][0-9]{0,${maximum.length - 2}}`, ...smaller.flat(), maximum]
}

/**
 * Returns the number of a text in the syntax of JSON numbers. Undefined if the text is no number, or if the number is
 * negative zero or overflows.
 */
export function finiteNumber (text: string): number | undefined {
  return numberText.test(text) ? plainNumber(Number(text)) : undefined
}

/** Returns the number itself, or undefined if it is not finite, or the negative zero, which JSON would show as 0. */
export function plainNumber (value: number): number | undefined {
  return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
}

/** Regular expression that matches the texts that {@link decimal} accepts for some number of digits. */
export const decimalPattern = '^(0([.][0-9]+)?|-?[1-9][0-9]*([.][0-9]+)?|-0[.]0*[1-9][0-9]*)$'

/**
 * Returns a decimal number as text with exactly `scale` digits after the point. Undefined if the given text is no
 * decimal number, is negative zero, or has more digits than `precision` and `scale` permit.
 */
export function decimal (text: string, options: FieldOptions): string | undefined {
  const { precision, scale } = digitsOf(options)
  const match = decimalText.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = ''] = match
  if (fraction.length > scale || (whole !== '0' && whole.length > precision - scale)) return undefined
  const value = scale === 0 ? whole : `${whole}.${fraction.padEnd(scale, '0')}`
  if (sign === '') return value
  return /[1-9]/.test(value) ? sign + value : undefined
}

/** Returns a UUID in lower case; undefined if the text is no UUID. */
export function uuid (text: string): string | undefined {
  return uuidText.test(text) ? text.toLowerCase() : undefined
}

/** Returns a day as `YYYY-MM-DD`, or undefined if the text is no day of the years 1 to 9999 in this form. */
export function date (text: string): string | undefined {
  return dateText.test(text) ? datetime(text)?.slice(0, 10) : undefined
}

/**
 * Parses a moment and returns it as `YYYY-MM-DD HH:MM:SS` in UTC, or undefined if the text is not one in the years 1 to
 * 9999. The text may have the same form, be a date (its midnight), or be in ISO 8601. An offset after the time is
 * converted, with or without minutes, even with a space before it. A fraction of a second is cut off.
 */
export function datetime (text: string): string | undefined {
  const match = datetimeText.exec(text)
  if (match === null) return undefined
  const part = (group: number): number => Number(match[group] ?? 0)
  const [year, month, day] = [part(1), part(2), part(3)]
  const [hour, minute, second] = [part(4), part(5), part(6)]
  const [offsetHour, offsetMinute] = [part(9), part(10)]
  // `Date.UTC` would take the years 0 to 99 for those of 1900 to 1999.
  const local = new Date(0)
  local.setUTCFullYear(year, month - 1, day)
  local.setUTCHours(hour, minute, second)
  const written = [year, month - 1, day, hour, minute, second]
  if (!parts(local).every((part, index) => part === written[index])) return undefined
  if (offsetHour > 23 || offsetMinute > 59) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  return formatDatetime(new Date(local.getTime() - offset * 60_000))
}

function parts (moment: Date): number[] {
  return [
    moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate(),
    moment.getUTCHours(), moment.getUTCMinutes(), moment.getUTCSeconds()
  ]
}

/** Returns a moment as `YYYY-MM-DD HH:MM:SS` in UTC, or undefined outside the years 1 to 9999. */
function formatDatetime (moment: Date): string | undefined {
  const year = moment.getUTCFullYear()
  return year >= 1 && year <= 9999 ? moment.toISOString().slice(0, 19).replace('T', ' ') : undefined
}

/**
 * Returns the value itself, or undefined if it nests deeper than 64 levels, or if storing it as JSON text would change
 * or break it: -0, an infinite number, a text that {@link storableText} refuses, and what only JavaScript has, such as
 * a function, a map or a date. A property of an object that is undefined is left out, as JSON does it.
 */
export function storableJson (value: Json): Json | undefined {
  return isStorable(value) ? value : undefined
}

function isStorable (value: Json | undefined, depth = 0): boolean {
  if (typeof value === 'string') return storableText(value) !== undefined
  if (typeof value === 'number') return plainNumber(value) !== undefined
  if (typeof value !== 'object' || value === null) return value === null || typeof value === 'boolean'
  if (depth === maxJsonDepth) return false
  // The copy has undefined for each hole, which every() would skip.
  if (isList(value)) return [...value].every((item) => isStorable(item, depth + 1))
  return hasProperties(value) && Object.entries(value).every(([key, item]) =>
    item === undefined || (storableText(key) !== undefined && isStorable(item, depth + 1)))
}

/**
 * True if a value is an object that JSON shows by its properties: no list, map, date, promise or function, and nothing
 * with a method `toJSON`. Its prototype does not count, because in Jest `structuredClone` gives objects another one.
 */
export function hasProperties (value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return Object.prototype.toString.call(value) === '[object Object]' &&
    !('toJSON' in value && typeof value.toJSON === 'function')
}

/** True if a value is a list. `Array.isArray` does not narrow read-only types. */
function isList (value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
