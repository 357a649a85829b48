import { StatementFailure } from '../engines/statement-failure.js'
import { errors, fieldError, withDetails } from '../errors.js'
import type { Column } from '../model/column.js'
import type { Engine } from './engine.js'
import { findDangling, findOversized, findTaken, refersInto, type SuspectWrite } from './find-fault.js'

/**
 * Thrown for a write that wrote nothing, or would write nothing, although no rule of the database refused it. For
 * example, a foreign key refers to a record that the client may not see, or a trigger discarded the write. Callers
 * replace it, so it never reaches a client.
 */
export class Unwritten extends Error {}

/** A write that a rule of the database refused. */
interface RefusedWrite extends SuspectWrite {
  readonly failure: StatementFailure
}

/**
 * Returns the error that a client gets for a create or update that failed. If the database refused the write, or
 * nothing was written ({@link Unwritten}), further queries look for the faulty field; the text of the failure never
 * decides which field it is. Any other failure is returned as it is.
 *
 * @returns REST_MODELS_NOT_UNIQUE (409) if another record has a value that must be unique,
 *   REST_MODELS_UNKNOWN_REFERENCE (400) if a foreign key refers to no record that the client may see,
 *   REST_MODELS_INVALID_RECORD (400) if a text is too long for an index, REST_MODELS_FORBIDDEN (403) if a row-level
 *   security policy refuses the write, or if the record would lie outside the user's scope (the records that the user
 *   may see), otherwise REST_MODELS_CONSTRAINT (409)
 */
export async function explainFailure (engine: Engine, failed: SuspectWrite, failure: unknown): Promise<unknown> {
  if (failure instanceof Unwritten) return await explainUnwritten(engine, failed)
  return failure instanceof StatementFailure ? await explainRefusal(engine, { ...failed, failure }) : failure
}

/**
 * Returns the error that a client gets for a delete that failed. Any failure that is no refusal by a rule of the
 * database is returned as it is.
 *
 * @returns REST_MODELS_STILL_REFERENCED (409) if other records refer to the record, REST_MODELS_FORBIDDEN (403) if a
 *   row-level security policy refuses the delete, REST_MODELS_CONSTRAINT (409) if another rule does
 */
export function explainDelete (failure: unknown): unknown {
  if (!(failure instanceof StatementFailure)) return failure
  const refusals = { reference: errors.StillReferenced, forbidden: errors.Forbidden }
  const Refusal = failure.kind === 'reference' || failure.kind === 'forbidden'
    ? refusals[failure.kind]
    : errors.Constraint
  return new Refusal({ cause: failure })
}

async function explainRefusal (engine: Engine, write: RefusedWrite): Promise<Error> {
  const { kind } = write.failure
  if (kind === 'forbidden') return new errors.Forbidden({ cause: write.failure })
  if (kind === 'oversized') return await explainSize(engine, write)
  // Also after a broken reference: of two faults, each engine reports the one that it meets first, but clients get the
  // same error from all engines.
  const taken = kind === 'constraint' ? undefined : await findTaken(engine, write)
  if (taken !== undefined) return notUnique(taken)
  // If the other table cannot be read, for example because of a missing privilege, no field is named.
  const dangling = kind === 'reference' ? await findDangling(engine, write).catch(() => undefined) : undefined
  if (dangling !== undefined) return unknownReference(dangling)
  // MariaDB's message about a taken value contains the value, and causes are logged.
  const cause = kind === 'unique'
    ? new Error('A unique index has this value, of a column that clients may not know, or that no field declares')
    : write.failure
  return new errors.Constraint({ cause })
}

/**
 * Returns the error for a create or update that wrote nothing, although no rule of the database refused it.
 *
 * @returns REST_MODELS_NOT_UNIQUE (409) if another record has a value that must be unique,
 *   REST_MODELS_UNKNOWN_REFERENCE (400) if a reference leads to no record that the client may see,
 *   REST_MODELS_FORBIDDEN (403) if the record would lie outside the user's scope (the records that the user may see),
 *   otherwise REST_MODELS_CONSTRAINT (409), because a trigger of the database discarded the write. If `write` has no
 *   references to check, only a trigger can be the reason, so the result is always REST_MODELS_CONSTRAINT.
 */
async function explainUnwritten (engine: Engine, write: SuspectWrite): Promise<Error> {
  if (write.references.length === 0) return new errors.Constraint()
  const known = await withoutRefused(engine, write)
  const taken = await findTaken(engine, { ...write, known })
  if (taken !== undefined) return notUnique(taken)
  return await explainReferences(engine, write) ?? new errors.Constraint()
}

/**
 * Returns the columns that an error may name (`known`), without some foreign keys. A foreign key is left out if the
 * client may not see the record that it refers to, or if it would put the written record outside the user's scope (the
 * records that the user may see). Without this, an error about values that are unique only together with such a foreign
 * key would reveal records that the client may not see.
 */
async function withoutRefused (engine: Engine, { known, references }: SuspectWrite): Promise<ReadonlySet<Column>> {
  const named = new Set(known)
  for (const reference of references) {
    const scope = [...reference.visible, ...reference.required]
    if (!await refersInto(engine, reference, scope)) named.delete(reference.column)
  }
  return named
}

/**
 * Returns the error for the foreign keys that a write sets: REST_MODELS_UNKNOWN_REFERENCE (400) if one refers to no
 * record that the client may see; otherwise REST_MODELS_FORBIDDEN (403) if one would put the written record outside the
 * user's scope (the records that the user may see). Returns undefined if neither is the case.
 */
export async function explainReferences (engine: Engine, write: SuspectWrite): Promise<Error | undefined> {
  const dangling = await findDangling(engine, write)
  if (dangling !== undefined) return unknownReference(dangling)
  for (const reference of write.references) {
    if (!await refersInto(engine, reference, reference.required)) return new errors.Forbidden()
  }
  return undefined
}

function unknownReference ({ key }: Column): Error {
  return fieldError(errors.UnknownReference, key, 'refers to a record that does not exist')
}

async function explainSize (engine: Engine, write: RefusedWrite): Promise<Error> {
  const column = await findOversized(engine, write)
  if (column === undefined) return new errors.Constraint({ cause: write.failure })
  const { key } = column
  return withDetails(
    new errors.InvalidRecord(`'${key}'`), [{ field: key, message: 'is too long for an index of the database' }])
}

function notUnique (taken: readonly Column[]): Error {
  const message = taken.length === 1 ? 'is already taken' : 'is already taken in this combination'
  const error = new errors.NotUnique(taken.map(({ key }) => `'${key}'`).join(' and '))
  return withDetails(error, taken.map(({ key }) => ({ field: key, message })))
}
