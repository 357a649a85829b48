import type { exitCodes, Terminal } from './terminal.js'

interface OptionRow {
  /** Flags in the notation of commander: `-o, --output <file>`. */
  readonly flags: string
  readonly description: string
  readonly default?: string
}

/** A command of the CLI. A new command needs only one such row. */
export interface CommandRow<Options = never> {
  readonly summary: string
  readonly argument: { readonly name: string, readonly description: string }
  readonly options: readonly OptionRow[]
  /** Runs the command. The CLI shows the message of an error that it throws, without a stack. */
  run (argument: string, options: Options, terminal: Terminal): Promise<keyof typeof exitCodes>
}
