import type { TObject } from '@sinclair/typebox'
import type { CheckCompiler } from '../../schemas/check.js'
import { shapeSchema, valueSchema, type Shape } from '../../schemas/shapes.js'
import type { Engine } from '../database/engine.js'
import type { WriteTarget } from '../database/write.js'
import type { Stored } from '../engines/storage.js'
import { isGenerated, type Column } from '../model/column.js'
import { requireSoundDefaults } from '../plan/defaults.js'
import type { Limits } from '../plan/limits.js'
import type { ListScope } from '../plan/list-scope.js'
import type { WriteScope } from '../plan/plan-write.js'
import type { Passwords } from '../policy/passwords.js'
import { recordMaker, type ModelRecord } from '../response/record.js'
import type { ListBase } from '../sql/list-sql.js'
import { isLong } from '../sql/long-values.js'
import { compileStatements } from '../sql/statements.js'
import type { ResourceAccess } from './access.js'
import type { Registration } from './registration.js'

/** Everything about a resource that setup decides before the first request, frozen. */
export interface Resource {
  readonly registration: Registration
  /** Path of the list, with the final slash. */
  readonly url: string
  readonly engine: Engine
  /** Engine that runs lists and reads: that of the option `readDb`. */
  readonly reader: Engine
  readonly limits: Limits
  readonly passwords: Passwords
  readonly schemas: Readonly<Record<Shape, TObject>>
  readonly visible: readonly Column[]
  /** Returns the record for a row of a list. */
  toListed (values: readonly Stored[]): ModelRecord
  readonly guarded: ResourceAccess['guarded']
  readonly list: ListScope & ListBase
  readonly write: WriteScope & WriteTarget
}

/** The parts that the resources of a container share. */
export interface ResourceSetting {
  readonly engine: Engine
  /** Engine that runs lists and reads: that of the option `readDb`. */
  readonly reader: Engine
  readonly limits: Limits
  readonly passwords: Passwords
  /** Path before the resource's name, with a final slash. */
  readonly prefix: string
  readonly checks: CheckCompiler
  readonly accessOf: (registration: Registration) => ResourceAccess
}

/**
 * Compiles a resource: columns, schemas, allow lists, checks and the SQL of the fixed shapes.
 *
 * @throws REST_MODELS_INVALID_MODEL if a default does not fit its field
 */
export function compileResource (registration: Registration, setting: ResourceSetting): Resource {
  const { name, model, excluded, readOnly, owner } = registration
  const { engine, reader, limits, passwords, checks } = setting
  const { access, guarded } = setting.accessOf(registration)
  const visible = model.columns.filter((column) => !excluded.has(column))
  const writable = model.columns.slice(1).filter((column) => !readOnly.has(column) && column !== owner)
  const schemas = shapeSchemas(visible, writable)
  const anyValues = shapeSchema('update', { visible, writable: model.columns })
  requireSoundDefaults(model.name, model.columns, (column) => checks.ofValue(valueSchema(column)))
  const created = model.columns.filter((column) => !isGenerated(column))
  const stored = model.columns.filter((column) => !excluded.has(column) || column === owner)
  const shape = { name, model, visible, stored, owner }
  return Object.freeze({
    registration,
    url: `${setting.prefix}${name}/`,
    engine,
    reader,
    limits,
    passwords,
    schemas,
    visible,
    toListed: recordMaker(visible, reader.dialect),
    guarded,
    list: listOf(registration, setting, { access, visible }),
    write: Object.freeze({
      model,
      owner,
      created,
      known: new Set([...visible, ...writable]),
      writable: new Set(writable),
      checkCreate: checks.ofObject({ ...anyValues, required: schemas.create.required ?? [] }),
      checkValues: checks.ofObject(anyValues),
      shape,
      statements: compileStatements(engine, reader, shape, created)
    })
  })
}

function listOf (
  { name, model, defaultLimit, maxLimit }: Registration, { reader, limits }: ResourceSetting,
  { access, visible }: Pick<ResourceAccess, 'access'> & Pick<Resource, 'visible'>
): Resource['list'] {
  const { dialect } = reader
  const { statementTime, pageBytes } = limits
  const keys = visible.map(({ key }) => key)
  const long = [...visible.keys()].filter((index) => isLong(visible[index] as Column))
  return Object.freeze({
    name, model, access, defaultLimit, maxLimit, limits, statementTime, pageBytes, dialect, columns: visible, keys, long
  })
}

function shapeSchemas (visible: readonly Column[], writable: readonly Column[]): Resource['schemas'] {
  const columns = { visible, writable }
  return {
    record: shapeSchema('record', columns),
    create: shapeSchema('create', columns),
    update: shapeSchema('update', columns)
  }
}
