import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { inOwnContext } from './own-context.js'

/** Requests of one connection that wait until the answers before theirs have been sent. */
export class Pipeline {
  readonly #waiting = new Set<() => void>()

  constructor (socket: Socket) {
    socket.once('close', () => { for (const resume of [...this.#waiting]) resume() })
  }

  get size (): number {
    return this.#waiting.size
  }

  /**
   * Calls `resume` once: when all answers before `answer` have been sent, or when the connection has closed. The
   * request goes on even then, because hooks of the host may count the requests that end.
   */
  wait (answer: ServerResponse, resume: () => void): void {
    const resumeAsItself = inOwnContext(resume)
    const next = (): void => { if (this.#waiting.delete(next)) resumeAsItself() }
    this.#waiting.add(next)
    // Node gives an answer the connection's socket when all answers before it have been sent.
    answer.once('socket', next)
  }
}
