import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errors } from '../../errors.js'

/** Names of output files that a command permits. */
export interface OutputNames {
  readonly pattern: RegExp
  /** Message for any other name. */
  readonly fault: string
}

/**
 * Requires that the name of an output file is permitted, and that the file does not exist yet, or that `force` permits
 * replacing it. Without an output file, it requires nothing.
 *
 * @throws REST_MODELS_INVALID_OPTIONS with the remedy
 */
export function requireOutput (output: string | undefined, force: boolean, { pattern, fault }: OutputNames): void {
  if (output === undefined) return
  if (!pattern.test(output)) throw new errors.InvalidOptions(fault)
  if (force || !existsSync(output)) return
  throw new errors.InvalidOptions(`The file '${output}' exists already; add --force to replace it`)
}

/** Writes an output file, and makes missing folders above it. Fails if the file exists and `force` is false. */
export function writeOutput (output: string, source: string, force: boolean): void {
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, source, { flag: force ? 'w' : 'wx' })
}
