import type { exitCodes, Terminal } from './terminal.js'

interface OptionRow {
  /** As commander writes them: `-o, --output <file>`. */
  readonly flags: string
  readonly description: string
  readonly default?: string
}

/** A command: a row is all that a new one needs. */
export interface CommandRow<Options = never> {
  readonly summary: string
  readonly argument: { readonly name: string, readonly description: string }
  readonly options: readonly OptionRow[]
  /** Does it; what it throws is shown without a stack. */
  run (argument: string, options: Options, terminal: Terminal): Promise<keyof typeof exitCodes>
}
