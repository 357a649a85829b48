import type { Row } from '../engines/executor.js'
import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import type { Json, RecordKey } from '../values/values.js'
import { decode, encode, valueKindOf, valueOptionsOf } from './column.js'
import type { Column, Model } from './model.js'

// The `id` of a record is the value of its primary key. If the key has several columns, it is a text: their values in
// their order, each percent-encoded, joined by commas.

/** Returns the columns that the primary key of a model has in its table. */
export function keyColumnsOf ({ primaryKey }: Pick<Model, 'primaryKey'>): readonly Column[] {
  return primaryKey.parts ?? [primaryKey]
}

/**
 * Returns `, did you mean 'id'?` if a client wrote the name of the column of the primary key, but the field is called
 * `id`. Returns undefined if the model has a field of that name, which may be hidden, or if the client may not name the
 * key.
 *
 * @param open  the columns that the client may name
 */
export function keySuggestion (
  { primaryKey, byName }: Pick<Model, 'primaryKey' | 'byName'>, written: string, open: ReadonlySet<Column>
): string | undefined {
  const isItsColumn = written === primaryKey.name && !byName.has(written) && open.has(primaryKey)
  return isItsColumn ? `, did you mean '${primaryKey.field}'?` : undefined
}

/** Returns what records of a model show of the given columns: the `id` first, also if it has no column of its own. */
export function withId ({ primaryKey }: Pick<Model, 'primaryKey'>, columns: readonly Column[]): readonly Column[] {
  return primaryKey.parts === undefined ? columns : [primaryKey, ...columns]
}

/** Returns the value of a text in a path or a filter; undefined if the text is none of the column. */
export function parseValue (column: Column, text: string): Json | undefined {
  return column.parts === undefined
    ? valueKindOf(column).parse(text, column.options)
    : parseId(column.parts, text.split(','))
}

/** Returns the id of a record by the percent-encoded values of its key; undefined if a part cannot have its value. */
function parseId (parts: readonly Column[], texts: readonly string[]): string | undefined {
  if (texts.length !== parts.length) return undefined
  const values = parts.map((part, index) => parsePart(part, String(texts[index])))
  return values.some((value) => value === undefined) ? undefined : joinId(values as Json[])
}

function parsePart (part: Column, encoded: string): Json | undefined {
  try {
    return valueKindOf(part).parse(decodeURIComponent(encoded), valueOptionsOf(part))
  } catch {
    // A percent sign that begins no escape.
    return undefined
  }
}

/** Returns the id of a record by the values of its key. */
export function joinId (values: readonly Json[]): string {
  return values.map((value) => encodeURIComponent(String(value))).join()
}

/** Returns the id of a record by its row, which has the columns of the key. */
export function idOf ({ primaryKey }: Pick<Model, 'primaryKey'>, row: Row, dialect: Dialect): RecordKey {
  const { parts } = primaryKey
  const valueOf = (column: Column): Json => decode(column, row[column.key] as Stored, dialect)
  return parts === undefined ? valueOf(primaryKey) as RecordKey : joinId(parts.map(valueOf))
}

/** Returns the values of the columns of a key, as the engine stores them. */
export function keyValues (key: Column, id: Json, dialect: Dialect): readonly Stored[] {
  if (key.parts === undefined) return [id as RecordKey]
  const texts = String(id).split(',')
  return key.parts.map((part, index) => encode(part, parsePart(part, String(texts[index])) as Json, dialect))
}

/** Returns the segment of a path that leads to a record. An id of several values is percent-encoded already. */
export function segmentOf ({ primaryKey }: Model, id: Json): string {
  return primaryKey.parts === undefined ? encodeURIComponent(String(id)) : String(id)
}

/** True if the collation of a column may take other texts for the values of the key. */
export function hasTexts (model: Pick<Model, 'primaryKey'>): boolean {
  return keyColumnsOf(model).some(isText)
}

/** True if the values of a column are texts, which collations may confuse. */
export function isText (column: Column): boolean {
  return valueKindOf(column).storage === 'text'
}
