import { AsyncResource } from 'node:async_hooks'
import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { errors, withRetryAfter } from './errors.js'

/** Milliseconds of one turn of the event loop after which requests that come are put off. */
const longest = 20

/** Milliseconds after which somebody who waits for a turn is told to come back: as long as others wait for a connection. */
const patience = 2000

interface Waiting {
  readonly since: number
  /** Whether the client has gone in the meantime. */
  readonly isGone: () => boolean
  readonly goOn: (failure?: Error) => void
}

/**
 * Spreads requests that come at once over turns of the event loop, where the engine does its work in the process: without
 * this, all that have arrived would be answered in one turn, in which no timer, no other route and no limit of the load has
 * a say.
 */
export class Turns {
  #began: number | undefined
  readonly #waiting: Waiting[] = []

  /** Goes on at once, or, if this turn has lasted long, in one of the next, in the order of the calls; with REST_MODELS_UNAVAILABLE (503) if that takes too long. */
  enter ({ raw: { socket } }: Pick<FastifyRequest, 'raw'>, goOn: HookHandlerDoneFunction): void {
    if (this.#waiting.length === 0 && this.#hasTime()) return goOn()
    // Else it would go on in what another request keeps in an AsyncLocalStorage. AsyncResource.bind() costs a hundred times as much.
    const own = new AsyncResource('RestModelsTurn')
    const later = (failure?: Error): void => { own.runInAsyncScope(goOn, undefined, failure) }
    this.#waiting.push({ since: performance.now(), isGone: () => socket.destroyed, goOn: later })
  }

  #hasTime (): boolean {
    if (this.#began !== undefined) return performance.now() - this.#began < longest
    this.#begin()
    return true
  }

  #begin (): void {
    this.#began = performance.now()
    setImmediate(this.#end)
  }

  readonly #end = (): void => {
    this.#began = undefined
    for (let count = this.#waiting.length; count > 0; count--) setImmediate(this.#letOneGoOn)
  }

  /** By an immediate of its own, so that what the one before awaits of the engine is done, and its time is known. */
  readonly #letOneGoOn = (): void => {
    const hasTime = this.#hasTime()
    this.#refuseLate()
    if (hasTime) this.#waiting.shift()?.goOn()
  }

  /** And whoever has gone. */
  #refuseLate (): void {
    const late = performance.now() - patience
    for (let [next] = this.#waiting; next !== undefined && (next.since < late || next.isGone()); [next] = this.#waiting) {
      this.#waiting.shift()
      next.goOn(withRetryAfter(new errors.Unavailable(), 1))
    }
  }
}
