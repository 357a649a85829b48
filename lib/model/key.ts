import type { Row } from '../engines/executor.js'
import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import { errors } from '../errors.js'
import { maxKeyLength } from '../values/field-options.js'
import type { Json, RecordKey } from '../values/values.js'
import { decodeIn, encode, valueKindOf, valueOptionsOf } from './column.js'
import type { Column, ForeignKeyColumn, Model } from './model.js'

// The `id` of a record is the value of its primary key. If the key has several columns, it is a text: their values in
// their order, each percent-encoded, joined by commas.

/** Returns the columns that the primary key of a model has in its table. */
export function keyColumnsOf ({ primaryKey }: Pick<Model, 'primaryKey'>): readonly Column[] {
  return primaryKey.parts ?? [primaryKey]
}

/**
 * Returns the hint `, did you mean 'id'?` if a client wrote the SQL name of the primary key's column. Returns undefined
 * for any other name, and if the client may not name the primary key. Also returns undefined if a field has this name,
 * even a hidden one, because the client may mean that field.
 *
 * @param written  the name that the client wrote
 * @param open     the columns that the client may name
 */
export function keySuggestion (
  { primaryKey, byName }: Pick<Model, 'primaryKey' | 'byName'>, written: string, open: ReadonlySet<Column>
): string | undefined {
  const isItsColumn = written === primaryKey.name && !byName.has(written) && open.has(primaryKey)
  return isItsColumn ? `, did you mean '${primaryKey.field}'?` : undefined
}

/**
 * Returns the columns with the `id` before them, if the primary key has several columns. Otherwise returns them
 * unchanged, because the `id` is a column like the others.
 */
export function withId ({ primaryKey }: Pick<Model, 'primaryKey'>, columns: readonly Column[]): readonly Column[] {
  return primaryKey.parts === undefined ? columns : [primaryKey, ...columns]
}

/**
 * Parses the id of a record whose key has several columns, from its text in a path or a filter. Returns the id as
 * {@link joinId} writes it. Returns undefined if the number of values is wrong, or a value is not of its column's kind.
 */
export function parseId (parts: readonly Column[], text: string): string | undefined {
  const texts = text.split(',')
  if (texts.length !== parts.length) return undefined
  const values = parts.map((part, index) => parsePart(part, String(texts[index])))
  return values.every((value) => value !== undefined) ? joinId(values) as string : undefined
}

function parsePart (part: Column, encoded: string): Json | undefined {
  try {
    return valueKindOf(part).parse(decodeURIComponent(encoded), valueOptionsOf(part))
  } catch {
    // A percent sign that begins no escape.
    return undefined
  }
}

/**
 * Returns the primary key in a path; throws REST_MODELS_RECORD_NOT_FOUND (404) if the id is no key of the model.
 *
 * @param id   the decoded segment of the path; a hook of the host may have made a number of it
 * @param url  the path as it was sent
 */
export type ParseKey = (id: unknown, url: string) => RecordKey

/**
 * Returns the function that reads a primary key of a model from a path. A key is a decimal integer from 0 to 2^53-1, a
 * UUID, a text of 1 to 100 characters, or several values. Other texts are refused: without this, an engine may round or
 * cut a text to the key of another record.
 *
 * @param pathOf  returns the part of a URL before its query string
 */
export function compileParseKey ({ primaryKey: key }: Model, pathOf: (url: string) => string): ParseKey {
  const { parts, options } = key
  const { parse } = valueKindOf(key)
  const fits = key.kind === 'text' ? fitsPath : isNotNegative
  const read: (text: string, url: string) => Json | undefined = parts === undefined
    ? (text) => fits(text) ? parse(text, options) : undefined
    : (text, url) => parseId(parts, idIn(pathOf(url), text))
  return (id, url) => {
    const value = read(String(id), url)
    if (value === undefined) throw new errors.RecordNotFound()
    return value as RecordKey
  }
}

/**
 * Returns the id in a path, for a model whose key has several columns. Such an id has percent-encoded values with
 * commas between them. The last segment of `path` is the id if it has a comma and decodes to `decoded`. Otherwise
 * `decoded` is the id, because the client has percent-encoded the whole id once more. The path may begin with a host,
 * so only its last segment is read.
 */
function idIn (path: string, decoded: string): string {
  const segment = String(path.split('/').findLast((part) => part !== ''))
  return segment.includes(',') && decodeURIComponent(segment) === decoded ? segment : decoded
}

function fitsPath (text: string): boolean {
  // A character has one or two UTF-16 units. The host decides how long a text its router takes.
  return text !== '' && text.length <= 2 * maxKeyLength && [...text].length <= maxKeyLength
}

function isNotNegative (text: string): boolean {
  return !text.startsWith('-')
}

/**
 * Returns the id of a record whose key has several columns, from the values of these columns. Null if one of them is
 * null, because no record shows what is stored there.
 */
export function joinId (values: readonly Json[]): string | null {
  return values.includes(null) ? null : values.map((value) => encodeURIComponent(String(value))).join()
}

/** Returns the id of a record from its row, which must have the columns of the key. */
export function idOf ({ primaryKey }: Pick<Model, 'primaryKey'>, row: Row, dialect: Dialect): RecordKey {
  const { parts } = primaryKey
  const valueOf = (column: Column): Json => decodeIn(row, column, dialect)
  return parts === undefined ? valueOf(primaryKey) as RecordKey : joinId(parts.map(valueOf)) as RecordKey
}

/** Returns the values that the columns of a key have for an id, as the engine stores them. */
export function keyValues (key: Column, id: RecordKey, dialect: Dialect): readonly Stored[] {
  if (key.parts === undefined) return [id]
  const texts = String(id).split(',')
  return key.parts.map((part, index) => encode(part, parsePart(part, String(texts[index])) as Json, dialect))
}

/**
 * Returns the function that turns an id into a segment of a path. Only a text needs percent-encoding. An id of several
 * values has it already, and a number or a UUID has no character that needs it.
 */
export function compileSegmentOf ({ primaryKey }: Model): (id: string) => string {
  return primaryKey.kind === 'text' && primaryKey.parts === undefined ? encodeURIComponent : String
}

/**
 * True if a foreign key of a new record refers to that record itself, which does not exist before the create. False for
 * the values of an update, which have no key.
 */
export function refersToItself (
  column: ForeignKeyColumn, model: Model, values: ReadonlyMap<Column, unknown>
): boolean {
  const key = values.get(model.primaryKey)
  return key !== undefined && values.get(column) === key && column.target() === model
}

/** True if a column of the primary key holds texts, whose comparison depends on a collation. */
export function hasTextKey (model: Pick<Model, 'primaryKey'>): boolean {
  return keyColumnsOf(model).some(isText)
}

/** True if the values of a column are stored as texts, whose comparison depends on a collation. */
export function isText (column: Column): boolean {
  return valueKindOf(column).storage === 'text'
}
