import type { ForeignKeyColumn } from '../model/column.js'
import type { Json, RecordKey } from '../values/values.js'
import type { Scope } from './viewer.js'

/** A record, the scope in which it must lie, and its owner. */
export interface ScopedRecord {
  readonly id: RecordKey
  readonly scope: Scope
  /** Id of the user who must own the record; null or absent if nobody in particular must. */
  readonly ownerId?: RecordKey | null
}

/** A foreign key that a write sets, and what the record that it refers to must be. */
export interface GuardedReference {
  readonly column: ForeignKeyColumn
  readonly value: Json
  /** The scope of the records that it may refer to. Another record is for the client one that does not exist. */
  readonly visible: Scope
  /** Conditions that the referred record must also meet, or the written record would lie outside its own scope. */
  readonly required: Scope
}

/** Conditions for a write of one record, beside that its owner is the user. */
export interface RecordGuard {
  /** The scope that the record must lie in before the write; that of a create is empty. */
  readonly scope: Scope
  readonly references: readonly GuardedReference[]
  /** The scope that the record must lie in after the write, if neither its values nor its references tell. */
  readonly outcome: Scope
}

/** The guard of a write that no scope concerns. */
export const unguarded: RecordGuard = Object.freeze({ scope: [], references: [], outcome: [] })
