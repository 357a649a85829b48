import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errors } from '../../errors.js'

/**
 * Requires that an output file does not exist yet, or that `force` permits replacing it.
 *
 * @throws REST_MODELS_INVALID_OPTIONS with the remedy
 */
export function requireFree (output: string, force: boolean): void {
  if (force || !existsSync(output)) return
  throw new errors.InvalidOptions(`The file '${output}' exists already; add --force to replace it`)
}

/** Writes an output file, and makes missing folders above it. Fails if the file exists and `force` is false. */
export function writeOutput (output: string, source: string, force: boolean): void {
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, source, { flag: force ? 'w' : 'wx' })
}
