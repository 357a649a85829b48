import type { ForeignKeyColumn } from '../model/column.js'
import type { Json, RecordKey } from '../values/values.js'
import type { Scope } from './viewer.js'

/** A record, the scope in which it must lie, and its owner. */
export interface ScopedRecord {
  readonly id: RecordKey
  readonly scope: Scope
  /**
   * Id of the user who must own the record, if the resource has an owner field; null stands for nobody, who owns no
   * record. Absent in reads that do not check the owner.
   */
  readonly ownerId?: RecordKey | null
}

/** A foreign key that a write sets, and the conditions on the record that it refers to. */
export interface GuardedReference {
  readonly column: ForeignKeyColumn
  readonly value: Json
  /**
   * Scope in which the referred record must lie. To the client, a record outside this scope does not exist. Empty if
   * the client may see every such record, or if the server or a hook set the foreign key.
   */
  readonly visible: Scope
  /** Conditions that the referred record must also meet, so that the written record lies inside its own scope. */
  readonly required: Scope
}

/** Conditions that a write of one record must meet, in addition to the check that its owner is the user. */
export interface RecordGuard {
  /** Scope in which the record must lie before the write. Empty for a create. */
  readonly scope: Scope
  readonly references: readonly GuardedReference[]
  /**
   * Scope in which the record must lie after the write. Empty if the written values and the checks of `references`
   * already make sure of that.
   */
  readonly outcome: Scope
}

/** Guard without conditions, for a write to which no scope applies. */
export const unguarded: RecordGuard = Object.freeze({ scope: [], references: [], outcome: [] })
