import type { FieldKind } from '../../fields/field-kinds.js'
import type { FieldOptions } from '../../values/field-options.js'

/** A part of a database that its models leave out or declare differently, or a write that its table refuses. */
export interface Note {
  readonly table: string
  /** The column, absent if the note is about the whole table. */
  readonly column?: string
  /** The reason, in words that follow the name of the table or column: `has no primary key …`, `left out: it …`. */
  readonly why: string
}

/** A field that a generated model will declare. */
export interface FieldPlan {
  readonly name: string
  readonly kind: FieldKind
  readonly options: FieldOptions
  /** Name of the table that a foreign key refers to. Absent for any other field. */
  readonly target?: string
}

/** A model to generate from a table. */
export interface ModelPlan {
  readonly name: string
  /** Name of the constant that holds the model in the written file. */
  readonly constant: string
  readonly table: string
  /**
   * The primary key. Undefined for a key of several columns. Also undefined for an integer that the database generates
   * in a column `id`, because `defineModel` adds such a key by itself. If the model has no other fields, such a key is
   * here nevertheless, because `defineModel` needs at least one field.
   */
  readonly key: FieldPlan | undefined
  /** Names of the fields of a primary key of several columns; none if the key has one column. */
  readonly keyFields: readonly string[]
  readonly fields: readonly FieldPlan[]
  /** Groups of fields that are unique together, by their names. */
  readonly unique: ReadonlyArray<readonly string[]>
  readonly notes: readonly Note[]
}

/** The models of a database. Each comes after those that it refers to, except in a circle of references. */
export interface DatabasePlan {
  readonly models: readonly ModelPlan[]
  /** Notes about tables that have no model. */
  readonly leftOut: readonly Note[]
}
