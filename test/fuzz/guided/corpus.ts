import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TargetName } from './targets.js'

const pathOf = (name: TargetName): string => fileURLToPath(new URL(`corpus/${name}.json`, import.meta.url))

/** The inputs that were kept for a target. */
export function readCorpus (name: TargetName): readonly string[] {
  return existsSync(pathOf(name)) ? JSON.parse(readFileSync(pathOf(name), 'utf8')) as readonly string[] : []
}

export function writeCorpus (name: TargetName, inputs: readonly string[]): void {
  writeFileSync(pathOf(name), `${JSON.stringify(inputs, null, 1)}\n`)
}
