import { once } from 'node:events'

/** The outputs of a command, and the signal that ends it. */
export interface Terminal {
  /** Prints the result that the user asked for, to standard output. */
  out (text: string): void
  /** Prints an error or a note, which is no part of the result, to standard error. */
  err (text: string): void
  /** Waits until a person or the system asks the program to end. */
  interrupted (): Promise<unknown>
}

/** The exit codes of a command, for the shell. `usage` means that its arguments are wrong. */
export const exitCodes = { success: 0, failure: 1, usage: 2 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The terminal of this process. SIGTERM and SIGINT interrupt it. */
export const processTerminal: Terminal = {
  out: (text) => { console.log(text) },
  err: (text) => { console.error(text) },
  interrupted: async () => await Promise.race(['SIGTERM', 'SIGINT'].map(async (signal) => await once(process, signal)))
}
