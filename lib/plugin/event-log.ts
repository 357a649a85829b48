import type { FastifyBaseLogger } from 'fastify'
import type { EventListener, EventMessages, Events } from '../events/events.js'

/**
 * Milliseconds from the log line about a refusal to the line with the number of further ones. In between, refusals with
 * the same queue and outcome are only counted.
 */
const refusalIntervalMs = 60_000

/**
 * Reasons in the log for refused requests: `full` and `late` are outcomes of a queue, and `connections` is the queue
 * for database connections.
 */
const refusals = {
  full: 'the queue is full',
  late: 'they have waited for more than 2 seconds',
  connections: 'no connection to the database has become free within 2 seconds'
} as const

const rounded = (milliseconds: number): string => `${Math.round(milliseconds)} ms`
const reasonOf = (code: string | null): string => code ?? 'unknown reason'

type Lines = { readonly [Name in keyof EventMessages]?: (message: EventMessages[Name]) => void }

/**
 * Writes some events of an app and of its databases to the log of the app: a line for each change of the server in use,
 * each repeated statement and each slow one, and lines about refused requests as {@link RefusalLog} says. Returns a
 * function that ends the logging.
 *
 * @param slowStatement  a statement that takes at least this many milliseconds is slow; with 0, no statement is slow
 */
export function logEvents (log: FastifyBaseLogger, slowStatement: number, sources: Iterable<Events>): () => void {
  const slowMs = slowStatement === 0 ? Infinity : slowStatement
  const refusalLog = new RefusalLog(log)
  const lines: Lines = {
    node: (message) => { logNode(log, message) },
    retry: (message) => { logRetry(log, message) },
    statement: (message) => { if (message.duration >= slowMs) logSlow(log, message) },
    queue: (message) => { refusalLog.note(message) }
  }
  const listener: EventListener = { slowMs, notice: (name, message) => { lines[name]?.(message) } }
  const ends = [...new Set(sources)].map((source) => source.attach(listener))
  return () => {
    for (const end of ends) end()
    refusalLog.close()
  }
}

function logNode (log: FastifyBaseLogger, message: EventMessages['node']): void {
  const { state, node, previous, code, duration } = message
  const line = { event: 'node', ...message }
  const after = duration === null ? '' : `, after ${rounded(duration)}`
  if (state === 'left') log.warn(line, `Database server ${node} does not serve: ${reasonOf(code)}`)
  else if (state === 'none') log.error(line, `No database server serves: ${reasonOf(code)}`)
  else if (previous !== null && previous !== node) {
    log.warn(line, `Changed from database server ${previous} to ${node}${after}`)
  } else if (duration === null) log.info(line, `Database server ${node} is in use`)
  else log.info(line, `Database server ${node} serves again${after}`)
}

function logRetry (log: FastifyBaseLogger, message: EventMessages['retry']): void {
  const { outcome, attempts, duration, code } = message
  const line = { event: 'retry', ...message }
  const what = `${nameOf(message)}, ${attempts} attempts in ${rounded(duration)}: ${reasonOf(code)}`
  if (outcome === 'done') log.info(line, `Repeated ${what}`)
  else log.warn(line, `Repeated without success ${what}`)
}

function logSlow (log: FastifyBaseLogger, message: EventMessages['statement']): void {
  log.warn({ event: 'statement', ...message }, `Slow statement: ${nameOf(message)}, ${rounded(message.duration)}`)
}

function nameOf ({ operation, resource }: EventMessages['retry'] | EventMessages['statement']): string {
  return resource === null ? operation : `${operation} of ${resource}`
}

/** Requests that were refused for one reason since the last line. */
interface Refusals {
  readonly timer: NodeJS.Timeout
  readonly queue: EventMessages['queue']['queue']
  readonly outcome: 'full' | 'late'
  count: number
}

/**
 * Logs the first refused request at once, and after a minute the number of further ones, if there are any. Each queue
 * and outcome has its own count.
 */
class RefusalLog {
  readonly #log: FastifyBaseLogger
  /** Counts of the minute after a first refusal, by the queue and by the outcome of the requests: `full` or `late`. */
  readonly #open = new Map<string, Refusals>()

  constructor (log: FastifyBaseLogger) {
    this.#log = log
  }

  note ({ queue, outcome }: EventMessages['queue']): void {
    if (outcome !== 'full' && outcome !== 'late') return
    const open = this.#open.get(keyOf({ queue, outcome }))
    if (open !== undefined) {
      open.count++
      return
    }
    this.#logRefusals({ queue, outcome, count: 1 })
    const timer = setTimeout(() => { this.#end(refused) }, refusalIntervalMs).unref()
    const refused: Refusals = { timer, queue, outcome, count: 0 }
    this.#open.set(keyOf(refused), refused)
  }

  /** Logs the refusals that were counted, but not logged yet. */
  close (): void {
    for (const refused of [...this.#open.values()]) this.#end(refused)
  }

  #end (refused: Refusals): void {
    this.#open.delete(keyOf(refused))
    clearTimeout(refused.timer)
    if (refused.count > 0) this.#logRefusals(refused)
  }

  #logRefusals ({ queue, outcome, count }: Omit<Refusals, 'timer'>): void {
    const reason = queue === 'connections' ? refusals.connections : refusals[outcome]
    this.#log.warn({ event: 'queue', queue, outcome, count }, `Refused ${count} in queue '${queue}': ${reason}`)
  }
}

function keyOf ({ queue, outcome }: Pick<Refusals, 'queue' | 'outcome'>): string {
  return `${queue} ${outcome}`
}
