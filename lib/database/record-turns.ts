import type { Dialect } from '../engines/dialect.js'
import { Semaphore } from '../engines/semaphore.js'
import { unavailable } from '../errors.js'
import type { RecordKey } from '../values/values.js'

/**
 * Writes of one record that may run or wait on a server. Each of them holds one of at least 64 slots, so a record
 * with a slow hook would otherwise keep all other writes of the app waiting. 50 clients may write to one at once.
 */
const maxWrites = 56

/**
 * Queue of the writes of one record. `semaphore` lets one write run at a time; `writes` is the number of writes that
 * run or wait.
 */
interface Turn {
  readonly semaphore: Semaphore
  writes: number
}

/**
 * Runs the writes of one record one at a time in this process: the hook `beforeWrite` of one write is called when the
 * write before it has ended. Without this, the record could change after the hook has seen it. The write would then
 * have to call the hook again, while it holds the lock of the record.
 */
export class RecordTurns {
  readonly #turns = new Map<string, Turn>()
  readonly #maxWrites: number

  /** @param maxWrites  number of writes of one record that may run or wait */
  constructor (maxWrites: number) {
    this.#maxWrites = maxWrites
  }

  /**
   * Runs a write of a record when all writes of this record that came before have ended.
   *
   * @throws REST_MODELS_UNAVAILABLE (503) if `maxWrites` of the record run or wait already, or if its turn has not come
   *   after two seconds; the write is then never called
   */
  async inTurn<Result> (table: string, id: RecordKey, write: () => Promise<Result>): Promise<Result> {
    const record = `${table}/${id}`
    const turn = this.#turns.get(record) ?? { semaphore: new Semaphore(() => 1, toTimeout), writes: 0 }
    if (turn.writes >= this.#maxWrites) throw unavailable({ cause: new Error('Too many writes of the same record') })
    this.#turns.set(record, turn)
    turn.writes++
    try {
      return await inSemaphore(turn.semaphore, write)
    } finally {
      if (--turn.writes === 0) this.#turns.delete(record)
    }
  }
}

const turnsByHandle = new WeakMap<object, RecordTurns>()

/** Returns the turns of the records of a Kysely instance, which all registrations of the plugin on it share. */
export function turnsOf (handle: object, { isEmbedded }: Pick<Dialect, 'isEmbedded'>): RecordTurns {
  const turns = turnsByHandle.get(handle) ?? new RecordTurns(isEmbedded ? Infinity : maxWrites)
  turnsByHandle.set(handle, turns)
  return turns
}

async function inSemaphore<Result> (semaphore: Semaphore, write: () => Promise<Result>): Promise<Result> {
  if (!semaphore.tryAcquire()) await semaphore.waitForRelease()
  try {
    return await write()
  } finally {
    semaphore.release()
  }
}

function toTimeout (): Error {
  return unavailable({ cause: new Error('Other writes of the same record took too long') })
}
