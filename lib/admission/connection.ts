import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of a connection that are served at a time. Those behind them wait until their client has taken an answer. */
const maxServed = 16

/** A connection of HTTP/1: the answers that its client has not taken, in their order, and the requests that wait for that. */
export class Connection {
  readonly #socket: Socket
  readonly #answers: ServerResponse[] = []
  readonly #parked = new Map<ServerResponse, () => void>()
  readonly #whenClosed = new Map<object, () => void>()
  #unread: { readonly answer: ServerResponse, readonly since: number } | undefined

  constructor (socket: Socket) {
    this.#socket = socket
    socket.once('close', () => {
      const parked = [...this.#parked.values()]
      this.#parked.clear()
      for (const goOn of parked) goOn()
      for (const call of [...this.#whenClosed.values()]) call()
    })
  }

  /** Counts a request, by its answer; gives how many have no answer now, or one that was not taken. */
  add (answer: ServerResponse): number {
    this.#forgetTaken()
    return this.#answers.push(answer)
  }

  /** Whether a request may be served now: its client takes what it is answered, and does not ask for much at a time. */
  mayServe (answer: ServerResponse): boolean {
    if (this.#answers[0] === answer) return true
    this.#forgetTaken()
    return this.#answers[0]?.writableEnded !== true && this.#answers.indexOf(answer) < maxServed
  }

  /** Calls back when a request may be served, or its client has gone: hosts count requests that begin and end. */
  park (answer: ServerResponse, goOn: () => void): void {
    if (this.#parked.size === 0) this.#listen()
    this.#parked.set(answer, goOn)
  }

  /** Calls back when the client goes while something waits. */
  whenClosed (waiting: object, call: () => void): void {
    this.#whenClosed.set(waiting, call)
  }

  /** Takes {@link whenClosed} back. */
  forget (waiting: object): void {
    this.#whenClosed.delete(waiting)
  }

  /** Whether there is nothing to be answered, or taken. */
  isDone (): boolean {
    this.#forgetTaken()
    return this.#answers.length === 0 || this.#socket.destroyed
  }

  /** Bytes of answers that the client has not taken. */
  countUnread (now: number): number {
    const [head] = this.#answers
    if (head?.writableEnded !== true) this.#unread = undefined
    else if (this.#unread?.answer !== head) this.#unread = { answer: head, since: now }
    return this.#answers.reduce((sum, { writableLength }) => sum + writableLength, 0)
  }

  /** Milliseconds for which its client has not taken an answer, as far as {@link countUnread} has seen. */
  unreadFor (now: number): number {
    return this.#unread === undefined ? 0 : now - this.#unread.since
  }

  close (): void {
    this.#socket.destroy()
  }

  #listen (): void {
    this.#answers[0]?.once('close', this.#serveNext)
  }

  readonly #serveNext = (): void => {
    // A request whose body came late is behind those that came after it, and they wait for its answer.
    for (const [answer, goOn] of [...this.#parked]) {
      if (!this.mayServe(answer)) continue
      this.#parked.delete(answer)
      goOn()
    }
    if (this.#parked.size > 0) this.#listen()
  }

  #forgetTaken (): void {
    for (let [head] = this.#answers; head !== undefined && (head.writableFinished || head.destroyed); [head] = this.#answers) this.#answers.shift()
  }
}
