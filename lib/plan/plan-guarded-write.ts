import type { Dialect } from '../engines/dialect.js'
import { errors } from '../errors.js'
import { notNull } from '../fields/operators.js'
import { encode, isFilledByDatabase, isForeignKey, storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { refersToItself } from '../model/key.js'
import type { Payload } from '../request/payload.js'
import type { Json, RecordKey } from '../values/values.js'
import { planUpdate, type StoredOf } from './plan-update.js'
import { givenValues, planCreate, type GivenValues, type WritePlan, type WriteRules } from './plan-write.js'
import { unguarded, type GuardedReference, type RecordGuard } from './record-guard.js'
import { scopeThrough, unscoped, type Scope, type ScopeCondition, type Viewer } from './viewer.js'

/**
 * Origin of a value in a write. In a create, `client` stands for a column that the client may set, even if the body
 * left it out, so that it gets its default. `server` stands for any other column. In an update, all planned values
 * count as `client`. A value that the hook `beforeWrite` returned always counts as `server`.
 */
type Source = 'client' | 'server'

/** The values of a write, and for each of them whether the client decided it or the server; see {@link Source}. */
export interface PlannedWrite {
  readonly plan: WritePlan
  /** True for a create. The database then sets the columns that it generates, too. False for an update. */
  readonly isCreate: boolean
  /**
   * Returns who decided the value of a column: the client or the server. {@link withGuard} lets a foreign key that the
   * client decided lead only to a record that the client may see.
   */
  sourceOf (column: Column): Source
}

/**
 * The values of a write. The conditions in `guard` keep the user from writing records, or references to records, that
 * the user may not see.
 */
export interface GuardedPlan extends PlannedWrite {
  readonly guard: RecordGuard
}

/** A resource to write to, the engine that writes, and the hooks of the resource. */
export interface WriteSetting extends WriteRules {
  readonly engine: { readonly dialect: Dialect }
  readonly hooked: { readonly hooks: { readonly beforeWrite?: unknown } } | undefined
}

/**
 * Plans a create, as {@link planCreate} says. The server sets the owner, and what the scope fixes ({@link fixedBy}).
 *
 * @param userId  id of the user who creates; null if nobody is logged in
 * @throws as `planCreate` and `givenValues`; REST_MODELS_FORBIDDEN (403) if the values show that the record would lie
 *   outside the scope
 */
export function planGuardedCreate (
  setting: WriteSetting, payload: Payload, viewer: Viewer, userId: RecordKey | null
): GuardedPlan {
  const given = givenValues(setting.owner, userId, fixedBy(viewer, setting))
  const plan = planCreate(setting, payload, given)
  const isGiven = (column: Column): boolean => given.has(column) || !setting.creatable.has(column)
  const sourceOf = (column: Column): Source => isGiven(column) ? 'server' : 'client'
  const isSent = (column: Column): boolean =>
    !isGiven(column) && Object.keys(payload).some((name) => setting.model.byName.get(name) === column)
  const judged = setting.hooked?.hooks.beforeWrite === undefined ? viewer : untilHook(viewer, isSent)
  return withGuard(setting, judged, { plan, isCreate: true, sourceOf })
}

/**
 * Returns the scopes that a create must meet before its hook `beforeWrite` runs. The hook may set columns that the
 * client did not send, and so bring the record into the scope of the resource. For this reason, conditions on these
 * columns are left out here; `addHookValues` checks all conditions after the hook.
 *
 * @param isSent  true for a column whose value in the body is written
 */
function untilHook (viewer: Viewer, isSent: (column: Column) => boolean): Viewer {
  if (viewer === unscoped) return viewer
  const scope = viewer.scope.filter(({ path: { joins: [join], column } }) => isSent(join ?? column))
  return { scope, scopeOf: viewer.scopeOf }
}

/**
 * Plans an update, as {@link planUpdate} says. No client may change what the scope fixes ({@link fixedBy}).
 *
 * @throws as `planUpdate`; REST_MODELS_FORBIDDEN (403) if the values show that the record would lie outside the scope
 */
export function planGuardedUpdate (
  setting: WriteSetting, payload: Payload, viewer: Viewer, storedOf: StoredOf
): GuardedPlan {
  const changes = planUpdate(setting, payload, storedOf, fixedBy(viewer, setting))
  const plan = viewer === unscoped ? changes : withoutKeptReferences(changes, storedOf)
  return withGuard(setting, viewer, { plan, isCreate: false, sourceOf: () => 'client' })
}

/**
 * Returns the plan of an update without the foreign keys that repeat the stored value. They are not checked, because
 * they may refer to records that the client may not see. They are not written either: without this, a foreign key that
 * somebody changed in the meantime would be changed back unchecked.
 */
function withoutKeptReferences (plan: WritePlan, storedOf: StoredOf): WritePlan {
  return new Map([...plan].filter(([column, value]) => !isForeignKey(column) || value !== storedOf(column)))
}

const nothing: GivenValues = new Map()

/**
 * Returns the values that a scope fixes: a map from each column for which the scope permits only one value, to that
 * value. Only the resource's own columns count, without the `id`. Null counts only for a column that is nullable.
 */
export function fixedBy (
  { scope }: Pick<Viewer, 'scope'>, { model: { primaryKey } }: Pick<WriteRules, 'model'>
): GivenValues {
  if (scope.length === 0) return nothing
  const fixed = new Map<Column, Json>()
  for (const { path: { joins, column }, operator, values: [value, ...others] } of scope) {
    const isOne = value !== undefined && others.length === 0 &&
      (['eq', 'in'].includes(operator) || (operator === 'is' && value !== notNull))
    const fits = value !== null || column.nullable
    if (isOne && fits && joins.length === 0 && column !== primaryKey && !fixed.has(column)) fixed.set(column, value)
  }
  return fixed
}

/**
 * Returns a write with the conditions that keep it inside the scopes. An update changes only a record inside the scope
 * of the resource. After a create or an update, the record is inside that scope. A foreign key that the client decided
 * refers only to a record that the client may see. If it refers to the new record itself, that is checked after the
 * create, because there is no such record before. For the viewer {@link unscoped}, there are no conditions.
 *
 * @throws REST_MODELS_FORBIDDEN (403) if the values show that the record would lie outside the scope
 */
export function withGuard (
  { model, engine: { dialect } }: WriteSetting, viewer: Viewer, write: PlannedWrite
): GuardedPlan {
  const { plan, isCreate, sourceOf } = write
  if (viewer === unscoped) return { plan, isCreate, sourceOf, guard: unguarded }
  const { scope, scopeOf } = viewer
  // If a condition leads back to the record itself, the write may change whether the condition holds.
  const leads = isCreate ? beginsAtItself : leadsBack
  const foreseeable = scope.filter((condition) => !leads(condition, model, plan))
  const decided = foreseeable.filter((condition) => isDecided(condition, write, dialect))
  const references = guardedReferences({ scope: foreseeable, scopeOf }, write)
  const toItself = references.filter(({ column }) => refersToItself(column, model, plan))
  const guard = {
    scope: isCreate ? [] : scope,
    references: references.filter((reference) => !toItself.includes(reference)),
    outcome: decided.length === scope.length && toItself.length === 0
      ? []
      : [...scope, ...toItself.flatMap(({ column, visible }) => scopeThrough([column], visible))]
  }
  return { plan, isCreate, sourceOf, guard }
}

function guardedReferences ({ scope, scopeOf }: Viewer, { plan, sourceOf }: PlannedWrite) {
  const references: GuardedReference[] = []
  for (const [column, value] of plan) {
    if (!isForeignKey(column) || value === null) continue
    const visible = sourceOf(column) === 'client' ? scopeOf(column.target()) : []
    const required = through(column, scope)
    if (visible.length > 0 || required.length > 0) references.push({ column, value, visible, required })
  }
  return references
}

/**
 * Returns those conditions of a scope that begin with the foreign key `column`, as conditions on the record that the
 * foreign key refers to.
 */
function through (column: Column, scope: Scope): Scope {
  return scope.filter(({ path: { joins } }) => joins[0] === column)
    .map(({ path, ...condition }) => ({ ...condition, path: { ...path, joins: path.joins.slice(1) } }))
}

/**
 * True if a foreign key in the path of a condition refers to the model of the written record. The path may then end in
 * this record itself, and the write may change whether the condition holds.
 */
function leadsBack ({ path: { joins } }: ScopeCondition, model: Model): boolean {
  return joins.some(({ target }) => target() === model)
}

/** True if the path of a condition begins with a foreign key that refers to the new record itself. */
function beginsAtItself ({ path: { joins: [join] } }: ScopeCondition, model: Model, plan: WritePlan): boolean {
  return join !== undefined && refersToItself(join, model, plan)
}

/**
 * True if a condition of the scope needs no check on the written record. There are three such cases:
 *
 * - An update does not change the column of the condition, or the foreign key at the beginning of its path, and the
 *   database does not fill it.
 * - The path of the condition begins with a foreign key that the write sets. The record to which this foreign key
 *   refers is checked with the write.
 * - The written value meets the condition, and the column stores it in the same spelling.
 *
 * @throws REST_MODELS_FORBIDDEN (403) if the written value does not meet the condition, or if it is null for a foreign
 *   key at the beginning of the path
 */
function isDecided (condition: ScopeCondition, { plan, isCreate }: PlannedWrite, dialect: Dialect): boolean {
  const { path: { joins: [join], column }, operator } = condition
  const value = plan.get(join ?? column)
  // An update does not change this column, except if only the database fills it.
  if (value === undefined) return !isCreate && !isFilledByDatabase(join ?? column)
  if (join !== undefined) return requireInside(value !== null)
  if (operator === 'is') {
    return requireInside(condition.values.some((wanted) => wanted === notNull ? value !== null : wanted === value))
  }
  if ((operator !== 'eq' && operator !== 'in') || storageOf(column, dialect).respells === true) return false
  const stored = encode(column, value, dialect)
  return requireInside(condition.values.some((wanted) => encode(column, wanted, dialect) === stored))
}

function requireInside (holds: boolean): true {
  if (!holds) throw new errors.Forbidden()
  return true
}
