import { channel } from 'node:diagnostics_channel'
import type { DiagnosticsMessages, StatementLabel, StatementMessage } from './messages.js'

/** Messages by the end of their channel's name, such as `statement` for `fastify-rest-models:statement`. */
export type EventMessages = {
  readonly [Name in keyof DiagnosticsMessages as Name extends `fastify-rest-models:${infer Word}` ? Word : never]:
  DiagnosticsMessages[Name]
}

const named = (name: keyof DiagnosticsMessages) => channel(name)

const channels = {
  statement: named('fastify-rest-models:statement'),
  retry: named('fastify-rest-models:retry'),
  node: named('fastify-rest-models:node'),
  login: named('fastify-rest-models:login'),
  queue: named('fastify-rest-models:queue'),
  'group-commit': named('fastify-rest-models:group-commit')
} as const satisfies Record<keyof EventMessages, unknown>

/**
 * Receiver of the events of one or several sources, such as the log of an app. `notice` must not throw, because nothing
 * catches the error.
 */
export interface EventListener {
  /**
   * Milliseconds that a statement must take to count as slow; Infinity if no statement does. `notice` is called for
   * each slow statement. It may be called for faster ones, too, if somebody else has asked for these.
   */
  readonly slowMs: number
  notice<Name extends keyof EventMessages> (name: Name, message: EventMessages[Name]): void
}

/** Label of a statement that has no label of its own. */
export const unlabelled: StatementLabel = { operation: 'other', resource: null }

/** A statement, with the operation and the resource that events name. Without `label`, these are {@link unlabelled}. */
interface Labelled {
  readonly label?: StatementLabel | undefined
}

/** The part of the event about a statement that tells of its end. */
type Ending = Pick<StatementMessage, 'outcome' | 'code' | 'rows' | 'duration'>

/**
 * Source of the events of one database, or of one app. Passes each event to its listeners, such as the log of the app,
 * and publishes it on the channel of `node:diagnostics_channel` for that sort of event.
 */
export class Events {
  readonly #listeners = new Set<EventListener>()
  #slowMs = Infinity

  /**
   * Passes all events to a listener from now on, but may leave out statements that are faster than its `slowMs`.
   * Returns a function that removes the listener.
   */
  attach (listener: EventListener): () => void {
    this.#listeners.add(listener)
    this.#noteSlowest()
    return () => {
      this.#listeners.delete(listener)
      this.#noteSlowest()
    }
  }

  publish<Name extends keyof EventMessages> (name: Name, message: EventMessages[Name]): void {
    channels[name].publish(message)
    for (const listener of this.#listeners) listener.notice(name, message)
  }

  /** True if somebody has subscribed to the channel of these messages. Listeners do not count. */
  hasSubscribers (name: keyof EventMessages): boolean {
    return channels[name].hasSubscribers
  }

  /**
   * Returns the time at which a statement begins, in milliseconds of `performance.now()`. Returns 0 if nobody would be
   * told of its end: no listener has a finite `slowMs`, and the channel `statement` has no subscriber. `end` and `fail`
   * then do nothing.
   */
  begin (): number {
    return this.#slowMs < Infinity || channels.statement.hasSubscribers ? performance.now() : 0
  }

  /**
   * Publishes that a statement that began at `start` has ended, if it was slow or somebody has subscribed to the
   * channel. Does nothing if `start` is 0.
   */
  end (start: number, query: Labelled, rows: number): void {
    if (start === 0) return
    const duration = performance.now() - start
    if (duration < this.#slowMs && !channels.statement.hasSubscribers) return
    this.#publishStatement(query, { outcome: 'done', code: null, rows, duration })
  }

  /** Publishes that a statement has failed, under the same conditions as {@link end}. */
  fail (start: number, query: Labelled, failure: unknown): void {
    if (start === 0) return
    const duration = performance.now() - start
    if (duration < this.#slowMs && !channels.statement.hasSubscribers) return
    this.#publishStatement(query, { outcome: 'failed', code: codeOf(failure), rows: 0, duration })
  }

  #publishStatement ({ label = unlabelled }: Labelled, ending: Ending): void {
    this.publish('statement', { ...label, ...ending })
  }

  #noteSlowest (): void {
    this.#slowMs = Math.min(Infinity, ...[...this.#listeners].map(({ slowMs }) => slowMs))
  }
}

/** The properties of an error in which {@link codeOf} looks for a code. */
interface Coded {
  readonly code?: unknown
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

/**
 * Returns the code of a failure. If the failure has no code, looks for one in its cause in the same way, or in the
 * first error of an AggregateError without a cause. Returns null if no code is found. Codes that begin with
 * `REST_MODELS_` are skipped, because they do not say why the database failed.
 */
export function codeOf (failure: unknown): string | null {
  const { code, errors: [first] = [], cause = first } = Object(failure) as Coded
  // The plugin's own errors have a code that says nothing of the reason.
  if (typeof code === 'string' && !code.startsWith('REST_MODELS_')) return code
  return cause === undefined ? null : codeOf(cause)
}

const sources = new WeakMap<object, Events>()

/** Returns the source of the events of a database, by its Kysely instance. An instance without one gets a new one. */
export function eventsOf (handle: object): Events {
  const events = sources.get(handle) ?? new Events()
  sources.set(handle, events)
  return events
}

/** Makes `events` the source that {@link eventsOf} returns for a Kysely instance. */
export function setEvents (handle: object, events: Events): void {
  sources.set(handle, events)
}
