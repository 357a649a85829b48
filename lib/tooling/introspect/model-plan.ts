import type { FieldKind } from '../../fields/field-kinds.js'
import type { FieldOptions } from '../../values/field-options.js'

/** What the models of a database do not say, or say in another way. */
export interface Note {
  readonly table: string
  /** Absent if it is about the whole table. */
  readonly column?: string
  /** In words that follow the name. */
  readonly why: string
}

/** A field to declare. */
export interface FieldPlan {
  readonly name: string
  readonly kind: FieldKind
  readonly options: FieldOptions
  /** The table that a foreign key refers to. */
  readonly target?: string
}

/** A model to define. */
export interface ModelPlan {
  readonly name: string
  readonly table: string
  /** Absent for an integer that the database generates, in a column `id`. */
  readonly key: FieldPlan | undefined
  readonly fields: readonly FieldPlan[]
  readonly notes: readonly Note[]
}

/** The models of a database, each behind those that it refers to, as far as they do not refer to each other. */
export interface DatabasePlan {
  readonly models: readonly ModelPlan[]
  /** About tables that have no model. */
  readonly leftOut: readonly Note[]
}
