import type { Case } from '../cases.js'
import { DifferentAnswers } from '../compare.js'
import { measureMemory, type MemoryResult } from './memory.js'
import { measureProcesses, type ProcessesResult } from './processes.js'
import { measureRatio, type RatioResult } from './ratio.js'
import type { Setting } from './setting.js'
import { measureStartUp, type StartUpResult } from './start-up.js'

/** A case and its outcome; `problem` says why there is no figure. */
export type Outcome =
  | { readonly row: Case, readonly problem: string }
  | { readonly row: Extract<Case, { kind: 'ratio' }>, readonly ratios: readonly RatioResult[] }
  | { readonly row: Extract<Case, { kind: 'start-up' }>, readonly startUp: StartUpResult }
  | { readonly row: Extract<Case, { kind: 'memory' }>, readonly memory: MemoryResult }
  | { readonly row: Extract<Case, { kind: 'processes' }>, readonly processes: ProcessesResult }

/** @throws DifferentAnswers if the two servers give different answers; any other failure counts for the case */
export async function runCase (row: Case, setting: Setting): Promise<Outcome> {
  try {
    if (row.kind === 'ratio') return { row, ratios: await measureRatio(row, setting) }
    if (row.kind === 'start-up') return { row, startUp: await measureStartUp(row, setting) }
    if (row.kind === 'processes') return { row, processes: await measureProcesses(row, setting) }
    return { row, memory: await measureMemory(row, setting) }
  } catch (error) {
    if (error instanceof DifferentAnswers) throw error
    return { row, problem: `failed: ${error instanceof Error ? error.message : String(error)}` }
  }
}
