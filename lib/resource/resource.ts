import type { TObject } from '@sinclair/typebox'
import type { CheckCompiler } from '../../schemas/check.js'
import { includingSchemas } from '../../schemas/included.js'
import { envelopeSchema } from '../../schemas/list.js'
import { shapeSchema, valueSchema, type Shape } from '../../schemas/shapes.js'
import type { Engine } from '../database/engine.js'
import type { WriteTarget } from '../database/write.js'
import type { Dialect } from '../engines/dialect.js'
import type { Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import {
  isClientGenerated, isFilledByDatabase, isSetOnUpdate, isWrittenByApi, type Column, type ForeignKeyColumn
} from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { compileParseKey, compileSegmentOf, keyColumnsOf, withId, type ParseKey } from '../model/key.js'
import { requireSoundDefaults } from '../plan/defaults.js'
import { compileKeyFaults } from '../plan/key-faults.js'
import type { Limits } from '../plan/limits.js'
import type { ListRules } from '../plan/list-rules.js'
import { keptIfEqual } from '../plan/plan-update.js'
import type { WriteRules } from '../plan/plan-write.js'
import type { Passwords } from '../policy/passwords.js'
import type { RelatedProtection } from '../policy/protection.js'
import type { ResourceScopes, ScopeRule } from '../policy/visibility.js'
import { compileTagOf, type TagOf } from '../response/entity-tag.js'
import { compileToListed, compileToRecord, type ModelRecord } from '../response/record.js'
import { lazySerializer, type SerializerOf } from '../response/serializer.js'
import type { ListBase } from '../sql/list-sql.js'
import { isLong } from '../sql/long-values.js'
import { compileStatements } from '../sql/statements.js'
import { itemAt } from '../values/lookup.js'
import type { ResourceAccess } from './access.js'
import { IncludedRecords } from './included-records.js'
import type { Registration } from './registration.js'
import { compileHooked, type TransactedTarget } from './transacted-target.js'

/** Everything about a resource that setup decides before the first request, frozen. */
export interface Resource
  extends Registration, ListRules, ListBase, WriteRules, WriteTarget, RelatedProtection, ResourceScopes {
  /** Path of the list, with the final slash. */
  readonly url: string
  readonly model: Model
  readonly owner: ForeignKeyColumn | undefined
  readonly scopeRule: ScopeRule | undefined
  readonly engine: Engine
  /** Engine that runs lists and reads: that of the option `readDb`. */
  readonly reader: Engine
  readonly limits: Limits
  readonly passwords: Passwords
  readonly schemas: Readonly<Record<Shape, TObject>>
  readonly parseKey: ParseKey
  /** Returns the query string of a URL, or '' if there is none. */
  queryOf (url: string): string
  /** Returns the segment of a record's path that stands for its id. */
  segmentOf (id: string): string
  /** Makes the records of lists and reads that have related records in them. */
  readonly included: IncludedRecords
  /** The hooks, and the table as they see it; undefined if the resource has no hooks. */
  readonly hooked: TransactedTarget | undefined
  /**
   * Returns the record of a row that a list got from `reader`. The row is an array of values, in the order of `keys`.
   */
  toListed (values: readonly Stored[]): ModelRecord
  /**
   * Returns the record of a row that the read of one record got from `reader`. The row has each value under its
   * column's key.
   */
  toRead (row: Row): ModelRecord
  /**
   * Returns the record of a row from `engine`, such as a write returns. The row has each value under its column's key.
   */
  toWritten (row: Row): ModelRecord
  /** Returns the `ETag` of a record; undefined without the option `etag`. */
  readonly tagOf: TagOf | undefined
}

/** The parts that all resources of one registration of the plugin share. */
export interface ResourceSetting extends Pick<Resource, 'engine' | 'reader' | 'limits' | 'passwords' | 'queryOf'> {
  /** Path before the resource's name, percent-encoded, with a final slash. */
  readonly prefix: string
  /** Maximum number of UTF-16 units in the segment of a path that stands for the id of a record. */
  readonly maxSegment: number
  /** Returns the part of a URL before its query string. */
  pathOf (url: string): string
  readonly checks: CheckCompiler
  readonly serializerOf: SerializerOf
  readonly accessOf: (registration: Registration) => ResourceAccess
}

/**
 * Compiles a resource: columns, schemas, allow lists, checks, and the statements whose SQL is the same for all
 * requests.
 *
 * @throws REST_MODELS_INVALID_MODEL if a default does not fit its field
 */
export function compileResource (registration: Registration, setting: ResourceSetting): Resource {
  const { prefix, maxSegment, pathOf, checks, serializerOf, accessOf, ...shared } = setting
  const { engine, reader } = shared
  const { name, model, etag, searched } = registration
  const columns = columnsOf(registration)
  const access = accessOf(registration)
  const writes = writesOf(registration, columns, { checks, dialect: engine.dialect })
  return Object.freeze({
    ...registration,
    ...columns,
    ...access,
    ...writes,
    ...shared,
    url: `${prefix}${name}/`,
    parseKey: compileParseKey(model, pathOf),
    segmentOf: compileSegmentOf(model),
    keyFaults: compileKeyFaults(model, maxSegment),
    ...recordsOf({ name, model, visible: columns.visible, searched, schemas: writes.schemas }, access, setting),
    tagOf: etag ? compileTagOf(serializerOf(writes.schemas.record)) : undefined,
    statements: compileStatements(engine, reader, { ...registration, ...columns }),
    hooked: registration.hooks && compileHooked(registration.hooks, { ...registration, ...columns }, engine)
  })
}

/** Compiles the layout of rows, and the functions that make records of them. */
function recordsOf (
  { schemas: { record }, ...table }: Pick<Resource, 'name' | 'model' | 'visible' | 'searched' | 'schemas'>,
  { shown: related }: ResourceAccess, { engine, reader: { dialect }, limits, serializerOf }: ResourceSetting
): Pick<Resource, 'keys' | 'long' | 'toListed' | 'toRead' | 'toWritten' | 'included'> {
  const { model, visible } = table
  const shown = withId(model, visible)
  const keys = visible.map(({ key }) => key)
  const long = [...visible.keys()].filter((index) => isLong(itemAt(visible, index)))
  const schemasOf = () => includingSchemas(shown, related, limits.joins)
  const serializers = new Map([
    [serializerOf(record), lazySerializer(() => schemasOf().record)],
    [serializerOf(envelopeSchema(record)), lazySerializer(() => schemasOf().list)]
  ])
  return {
    keys,
    long,
    toListed: compileToListed(shown, dialect),
    toRead: compileToRecord(shown, dialect),
    toWritten: compileToRecord(shown, engine.dialect),
    included: new IncludedRecords({ ...table, keys, long, limits }, shown, dialect, serializers)
  }
}

/** The columns of a resource by what a client may do with them. */
type ResourceColumns =
  Pick<Resource, 'visible' | 'keyOrdering' | 'stored' | 'created' | 'writable' | 'creatable' | 'touched' | 'known'>

function columnsOf ({ model, excluded, readOnly, owner }: Registration): ResourceColumns {
  const { columns, primaryKey } = model
  const key = keyColumnsOf(model)
  const visible = columns.filter((column) => !excluded.has(column))
  const isSet = (column: Column): boolean => isSetOnUpdate(column) || isFilledByDatabase(column)
  const isWritable = (column: Column): boolean =>
    column !== primaryKey && !readOnly.has(column) && column !== owner && !isSet(column)
  const creatable = new Set(columns.filter((column) => isWritable(column) || isClientGenerated(column)))
  const writable = new Set(columns.filter((column) => isWritable(column) && !key.includes(column)))
  return {
    visible,
    keyOrdering: key.map((column) => ({ column, descending: false })),
    stored: columns.filter((column) => !excluded.has(column) || column === owner),
    created: columns.filter(isWrittenByApi),
    writable,
    touched: columns.filter(isSetOnUpdate),
    creatable,
    known: new Set([...withId(model, visible), ...creatable])
  }
}

function writesOf (
  { model, hooks }: Registration, { visible, writable, creatable }: ResourceColumns,
  { checks, dialect }: { readonly checks: CheckCompiler, readonly dialect: Dialect }
): Pick<Resource, 'schemas' | 'needsChange' | 'keptIfEqual' | 'checkCreate' | 'checkValues'> {
  const { name, columns } = model
  const shown = withId(model, visible)
  requireSoundDefaults(name, columns, (column) => checks.ofValue(valueSchema(column)))
  const shapeOf = (shape: Shape) =>
    shapeSchema(shape, { visible: shown, writable: [...(shape === 'create' ? creatable : writable)] })
  const schemas = { record: shapeOf('record'), create: shapeOf('create'), update: shapeOf('update') }
  const anyValues = shapeSchema('update', { visible: shown, writable: withId(model, columns) })
  return {
    schemas,
    needsChange: hooks !== undefined || columns.some(isSetOnUpdate),
    keptIfEqual: keptIfEqual(columns, dialect),
    checkCreate: checks.ofObject({ ...anyValues, required: schemas.create.required ?? [] }),
    checkValues: checks.ofObject(anyValues)
  }
}
