import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { baseAlias, type PlannedInclude } from '../plan/list-plan.js'
import { compileToOpen, type ModelRecord, type OpenRecord } from './record.js'
import { lazySerializer, type Serialize } from './serializer.js'

/** Makes and serializes the records of a resource that have related records in them. */
export interface IncludedRecords {
  /** Returns a function that makes a record of a row whose columns are those of the record, then of each include. */
  toIncluded (includes: readonly PlannedInclude[]): (row: readonly Stored[]) => ModelRecord
  readonly serializeRecord: Serialize
  readonly serializeList: Serialize
}

/** @param schemasOf  returns the schemas of a record and of a list; called when the first one is serialized */
export function compileIncluded (
  visible: readonly Column[], dialect: Dialect, schemasOf: () => Readonly<Record<'record' | 'list', object>>
): IncludedRecords {
  const toBase = compileToOpen(visible, dialect)
  const width = visible.filter(({ parts }) => parts === undefined).length
  const compiled = new Map<Model, ToOpen>()
  const toRecordOf = (model: Model, columns: readonly Column[]): ToOpen => {
    if (!compiled.has(model)) compiled.set(model, compileToOpen(columns, dialect))
    return compiled.get(model) as ToOpen
  }
  return {
    toIncluded: (includes) => {
      const aliases = [baseAlias, ...includes.map(({ alias }) => alias)]
      let end = width
      const parts = includes.map(({ from, column: { field, target }, visible }) => {
        const start = end
        end += visible.length
        return { parent: aliases.indexOf(from), field, start, toRecord: toRecordOf(target(), visible) }
      })
      return (row) => addParts(toBase(row, 0), parts, row)
    },
    serializeRecord: lazySerializer(() => schemasOf().record),
    serializeList: lazySerializer(() => schemasOf().list)
  }
}

type ToOpen = ReturnType<typeof compileToOpen>

/** The columns of a row, from `start` on, that make a related record. */
interface Part {
  /** Which record refers to it: 0 is the record of the resource, 1 the first related one. */
  readonly parent: number
  /** Name under which the related record stands in the one that refers to it. */
  readonly field: string
  readonly start: number
  readonly toRecord: ToOpen
}

/** Adds the related records of a row to its record. One that is null, and all behind it, were joined as nulls. */
function addParts (record: OpenRecord, parts: readonly Part[], row: readonly Stored[]): OpenRecord {
  const records: Array<OpenRecord | null> = [record]
  for (const { parent, field, start, toRecord } of parts) {
    // The primary key comes first, and no record has null there.
    const related = row[start] === null ? null : toRecord(row, start)
    const { [parent]: owner } = records
    if (owner) owner[field] = related
    records.push(related)
  }
  return record
}
