import type { Duplex } from 'node:stream'
import { noAnswerCode } from '../statement-failure.js'
import { connectTimeoutMs } from './server-options.js'

interface Alone {
  /**
   * Returns the current socket of a connection that nobody else uses. Encryption replaces the socket by another one.
   */
  socket (): Duplex
  /**
   * Says goodbye to the server, which then closes the connection. Called once, when the question of {@link askAlone} is
   * answered or has failed.
   */
  end (): void
}

/**
 * Returns the answer of `ask`, which asks a server on a connection that nobody else uses. After `maxMs` milliseconds
 * (default: two seconds) the connection is closed, and a pending question then fails.
 */
export async function askAlone<Answer> (
  { socket, end }: Alone, ask: () => Promise<Answer>, maxMs = connectTimeoutMs
): Promise<Answer> {
  const timer = setTimeout(() => { socket().destroy(noAnswer()) }, maxMs)
  try {
    return await ask()
  } finally {
    if (socket().destroyed) clearTimeout(timer)
    else socket().once('close', () => { clearTimeout(timer) })
    end()
  }
}

/** Returns the error for a server that gives no answer in time. */
export function noAnswer (): Error {
  return Object.assign(new Error('The server does not answer'), { code: noAnswerCode })
}
