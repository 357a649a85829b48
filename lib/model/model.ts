import type { FieldKind } from '../fields/field-kinds.js'
import type { FieldOptions } from '../values/field-options.js'

// These types refer to each other, so they share a file: a model holds columns, and a foreign key leads to a model.

/**
 * Name of every primary key, as a field and in JSON. It is the name in SQL, too, if the field has no `column` and the
 * key has one column.
 */
export const keyName = 'id'

/** Declared field: its kind and its options, kept as literal types. */
export interface Field<Kind extends FieldKind = FieldKind, Options extends FieldOptions = FieldOptions> {
  readonly kind: Kind
  readonly options: Options
}

/** Field that refers to the primary key of another model. */
export interface ForeignKeyField<Target extends Model = Model, Options extends FieldOptions = FieldOptions>
  extends Field<'foreignKey', Options> {
  readonly target: () => Target
}

/** Field of a model with all its names: as declared (`field`), in JSON (`key`) and in SQL (`name`). */
export interface Column {
  readonly field: string
  readonly key: string
  readonly name: string
  readonly kind: FieldKind
  readonly options: FieldOptions
  readonly nullable: boolean
  /** Returns the model that a foreign key refers to. Absent if the column is no foreign key. */
  readonly target?: () => Model
  /**
   * Columns that make up a primary key of several columns, in the order of the key. Present only if this column is the
   * `id` of such a model. The table has no column for this `id`.
   */
  readonly parts?: readonly Column[]
}

/** Column that refers to another model. */
export type ForeignKeyColumn = Column & { readonly target: () => Model }

export type FieldSet = Readonly<Record<string, Field | ForeignKeyField>>

/** Data model of one table. `defineModel` makes it, frozen. */
export interface Model<
  Name extends string = string, Fields extends FieldSet = FieldSet, Table extends string = string,
  KeyFields extends string = string
> {
  readonly name: Name
  readonly table: Table
  readonly fields: Fields
  /** The primary key first, if it is one column, then the fields in the order of their declaration. */
  readonly columns: readonly [Column, ...Column[]]
  /** The `id` of records. If the key has several columns, these are its `parts`. */
  readonly primaryKey: Column
  /** Names of the fields that make up the primary key; `id` alone if the key is one column. */
  readonly keyFields: readonly KeyFields[]
  /** Columns by field name and by serialized key. */
  readonly byName: ReadonlyMap<string, Column>
  /**
   * Lists of columns: no two records have the same values in all columns of a list. Two nulls do not count as the same
   * value.
   */
  readonly uniqueTogether: ReadonlyArray<readonly Column[]>
}

/** True if a value is a model. In an application without types, or whose files import each other, it may be another. */
export function isModel (value: unknown): value is Model {
  return typeof value === 'object' && value !== null && 'byName' in value && value.byName instanceof Map
}
