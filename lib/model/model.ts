import type { FieldKind } from '../fields/field-kinds.js'
import type { FieldOptions } from '../values/field-options.js'

// A model holds fields and columns, and a foreign key among them leads to a model: types that refer to each other, in one file.

/** The name of every primary key, as a field and in JSON; in SQL too, unless its field has a `column`. */
export const keyName = 'id'

/** A declared field: its kind and what was said of it, kept as literal types. */
export interface Field<Kind extends FieldKind = FieldKind, Options extends FieldOptions = FieldOptions> {
  readonly kind: Kind
  readonly options: Options
}

/** A field that refers to the primary key of another model. */
export interface ForeignKeyField<Target extends Model = Model, Options extends FieldOptions = FieldOptions>
  extends Field<'foreignKey', Options> {
  readonly target: () => Target
}

/** A field of a model with all its names: as declared, in JSON and in SQL. */
export interface Column {
  readonly field: string
  readonly key: string
  readonly name: string
  readonly kind: FieldKind
  readonly options: FieldOptions
  readonly nullable: boolean
  /** The model that a foreign key refers to. */
  readonly target?: () => Model
}

/** A column that refers to another model. */
export type ForeignKeyColumn = Column & { readonly target: () => Model }

export type FieldSet = Readonly<Record<string, Field | ForeignKeyField>>

/** A data model: what one table holds. Made by {@link defineModel}, frozen. */
export interface Model<Name extends string = string, Fields extends FieldSet = FieldSet, Table extends string = string> {
  readonly name: Name
  readonly table: Table
  readonly fields: Fields
  /** The primary key first, then the fields in the order of their declaration. */
  readonly columns: readonly [Column, ...Column[]]
  /** Columns by field name and by serialized key. */
  readonly byName: ReadonlyMap<string, Column>
}
