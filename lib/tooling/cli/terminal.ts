/** Where a command writes to, and what ends it. */
export interface Terminal {
  /** What was asked for. */
  out (text: string): void
  /** What a person should know beside that. */
  err (text: string): void
  /** Settled when a person, or the machine, wants the program to end. */
  interrupted (): Promise<unknown>
}

/** How a command ends; for a shell. */
export const exitCodes = { success: 0, failure: 1, usage: 2 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
