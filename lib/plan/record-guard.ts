import type { ForeignKeyColumn } from '../model/column.js'
import type { Json, RecordKey } from '../values/values.js'
import type { Scope } from './viewer.js'

/** The id of a record, the {@link Scope} that it must meet so that the user may see it, and the id of its owner. */
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
   * Conditions that the referred record must meet so that the client may see it. To the client, any other record does
   * not exist. Empty if the client may see every such record, or if the server or a hook set the foreign key.
   */
  readonly visible: Scope
  /** Conditions that the referred record must also meet, so that the written record lies inside its own scope. */
  readonly required: Scope
}

/** Conditions that a write of one record must meet, in addition to the check that its owner is the user. */
export interface RecordGuard {
  /** Conditions that the record must meet before the write, so that the user may see it. Empty for a create. */
  readonly scope: Scope
  readonly references: readonly GuardedReference[]
  /**
   * Conditions that the record must meet after the write, so that the user may still see it. Empty if the written
   * values and the checks of `references` already make sure of that.
   */
  readonly outcome: Scope
}

/** Guard without conditions, for a write to which no scope applies. */
export const unguarded: RecordGuard = Object.freeze({ scope: [], references: [], outcome: [] })
