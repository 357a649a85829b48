import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import { isForeignKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { baseAlias, type PlannedInclude } from '../plan/list-plan.js'
import type { Json } from '../values/values.js'
import { compileToListed, type ModelRecord } from './record.js'
import { lazySerializer, type Serialize } from './serializer.js'

/** Makes and serializes the records of a resource that have related records in them. */
export interface IncludedRecords {
  /** Returns a function that makes a record of a row whose columns are those of the record, then of each include. */
  toIncluded (includes: readonly PlannedInclude[]): (row: readonly Stored[]) => ModelRecord
  readonly serializeRecord: Serialize
  readonly serializeList: Serialize
}

/** A new record, to which related records are added. */
type OpenRecord = Record<string, Json>
type ToRecord = (values: readonly Stored[]) => OpenRecord

/** @param schemasOf  returns the schemas of a record and of a list; called when the first one is serialized */
export function compileIncluded (
  visible: readonly Column[], dialect: Dialect, schemasOf: () => Readonly<Record<'record' | 'list', object>>
): IncludedRecords {
  const toListed = compileToOpen(visible, dialect)
  const width = visible.filter(({ parts }) => parts === undefined).length
  const compiled = new Map<Model, ToRecord>()
  const toRecordOf = (model: Model, columns: readonly Column[]): ToRecord => {
    const toRecord = compiled.get(model) ?? compileToOpen(columns, dialect)
    compiled.set(model, toRecord)
    return toRecord
  }
  return {
    toIncluded: (includes) => {
      let end = width
      const parts = includes.map(({ alias, from, column, visible }) => {
        const start = end
        end += visible.length
        return { alias, from, field: column.field, start, end, toRecord: toRecordOf(column.target(), visible) }
      })
      return (row) => addParts(toListed(row), parts, row)
    },
    serializeRecord: lazySerializer(() => schemasOf().record),
    serializeList: lazySerializer(() => schemasOf().list)
  }
}

/** The columns of a row, from `start` up to but not including `end`, that make a related record. */
interface Part extends Pick<PlannedInclude, 'alias' | 'from'> {
  /** Name under which the related record stands in the one that refers to it. */
  readonly field: string
  readonly start: number
  readonly end: number
  readonly toRecord: ToRecord
}

/**
 * Returns a function that makes records that related records can be added to. A foreign key may be called
 * `constructor`, and the serializer would take what every object inherits under that name for a related record.
 */
function compileToOpen (columns: readonly Column[], dialect: Dialect): ToRecord {
  const toRecord: ToRecord = compileToListed(columns, dialect)
  const inherited = columns.filter(isForeignKey).map(({ field }) => field).filter((name) => name in Object.prototype)
  if (inherited.length === 0) return toRecord
  const absent = Object.fromEntries(inherited.map((name) => [name, undefined]))
  return (values) => Object.assign(toRecord(values), absent)
}

/** Adds the related records of a row to its record. One that is null, and all behind it, were joined as nulls. */
function addParts (record: OpenRecord, parts: readonly Part[], row: readonly Stored[]): OpenRecord {
  const records = new Map([[baseAlias, record]])
  for (const { alias, from, field, start, end, toRecord } of parts) {
    const parent = records.get(from)
    if (parent === undefined) continue
    // The primary key comes first, and no record has null there.
    const related = row[start] === null ? null : toRecord(row.slice(start, end))
    parent[field] = related
    if (related !== null) records.set(alias, related)
  }
  return record
}
