import type { exitCodes, Terminal } from './terminal.js'

interface OptionRow {
  /** Flags in the notation of commander: `-o, --output <file>`. */
  readonly flags: string
  readonly description: string
  readonly default?: string
}

/** A command of the CLI. A new command is one such row in the table of commands in `run.ts`. */
export interface CommandRow<Options = never> {
  readonly summary: string
  /** The arguments, all of which are required. */
  readonly arguments: ReadonlyArray<{ readonly name: string, readonly description: string }>
  readonly options: readonly OptionRow[]
  /**
   * Runs the command and returns the name of its exit code. If `run` throws an error, the CLI prints the message
   * without the stack, and exits with 2 for REST_MODELS_INVALID_OPTIONS and otherwise with 1.
   *
   * @param given  the values of the arguments, in the order of `arguments`
   */
  run (given: readonly string[], options: Options, terminal: Terminal): Promise<keyof typeof exitCodes>
}
