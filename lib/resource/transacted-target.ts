import type { Engine } from '../database/engine.js'
import type { WriteTarget } from '../database/write.js'
import type { Row } from '../engines/executor.js'
import { isSecret } from '../model/column.js'
import { withId } from '../model/key.js'
import { compileToRecord, type ModelRecord } from '../response/record.js'
import { compileStatements, type StatementShape } from '../sql/statements.js'
import type { AnyHooks } from './write-hooks.js'

/** The hooks of a resource, and its table as the hooks see it: with hidden columns, but without passwords. */
export interface TransactedTarget {
  readonly hooks: AnyHooks
  /** The resource, with statements that read and return all columns that hooks get or that records show. */
  readonly whole: WriteTarget
  /** Returns the record of a row as hooks get it: with every field except passwords. */
  toWhole (row: Row): ModelRecord
}

/** Compiles the statements for writes with hooks, and the function that makes the records that the hooks get. */
export function compileHooked (
  hooks: AnyHooks, target: StatementShape & Pick<WriteTarget, 'known'>, engine: Engine
): TransactedTarget {
  const { columns } = target.model
  const shown = withId(target.model, columns.filter((column) => !isSecret(column)))
  const read = columns.filter((column) => !isSecret(column) || target.visible.includes(column))
  // No resource name has a blank, so no other statement is cached under this name.
  const shape = { ...target, cachedAs: `${target.name} with all columns`, visible: read, stored: read }
  return Object.freeze({
    hooks,
    whole: { ...shape, statements: compileStatements(engine, engine, shape) },
    toWhole: compileToRecord(shown, engine.dialect)
  })
}
