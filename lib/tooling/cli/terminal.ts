/** The outputs of a command, and the signal that ends it. */
export interface Terminal {
  /** Prints the result that the user asked for. */
  out (text: string): void
  /** Prints a message beside the result. */
  err (text: string): void
  /** Waits until a person or the system asks the program to end. */
  interrupted (): Promise<unknown>
}

/** The exit codes of a command, for the shell. */
export const exitCodes = { success: 0, failure: 1, usage: 2 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
