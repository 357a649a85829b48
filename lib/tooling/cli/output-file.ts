import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errors } from '../../errors.js'

/**
 * Refuses the name of an output file that exists already, if it must not be replaced.
 *
 * @throws REST_MODELS_INVALID_OPTIONS with the remedy
 */
export function requireFree (output: string, force: boolean): void {
  if (force || !existsSync(output)) return
  throw new errors.InvalidOptions(`The file '${output}' exists already; add --force to replace it`)
}

/** Writes an output file, and the folders above it. Fails if the file has come into being and must not be replaced. */
export function writeOutput (output: string, source: string, force: boolean): void {
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, source, { flag: force ? 'w' : 'wx' })
}
