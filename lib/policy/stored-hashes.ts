import { randomBytes } from 'node:crypto'
import { parseOptions, verify } from '@node-rs/argon2'

/** Parameters of an argon2id hash on which the time of a check depends. */
interface Cost {
  readonly memoryKiB: number
  readonly passes: number
  readonly lanes: number
}

/** Parameters of the hashes that `hashPassword()` makes. */
const usualCost: Cost = { memoryKiB: 19456, passes: 2, lanes: 1 }

/**
 * Most work of a refusal, in KiB as {@link workOf} counts it: about half a second. A stored hash that needs more must
 * not slow down the refusals of other users.
 */
const maxWork = 2 ** 20

/** Memory that argon2 needs for each lane, in KiB. */
const minMemoryOfLane = 8

/**
 * Returns a value that looks like an argon2id hash, and that no password matches. Comparing a password with this value
 * takes as long as with a hash of that cost. The value is not made by argon2, which would take 15 ms and 19 MiB of
 * memory.
 */
export function dummyHash ({ memoryKiB, passes, lanes }: Cost = usualCost): string {
  const random = (bytes: number): string => randomBytes(bytes).toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${random(16)}$${random(32)}`
}

/**
 * Compares passwords with stored argon2id hashes. Every refusal costs about as much as the check of the costliest hash
 * that was compared so far, and at least as much as that of a hash by `hashPassword()`. So the time does not tell
 * whether a user has a hash, nor which program has made it. A hash that needs more than {@link maxWork} is an
 * exception: it makes only its own refusals slower.
 */
export class StoredHashes {
  #costliest = usualCost

  /**
   * True if a password matches a stored value.
   *
   * @param stored  the stored value; undefined if the user has none, which matches no password. The same holds for a
   *   value that argon2 cannot read.
   */
  async match (password: string, stored: string | undefined): Promise<boolean> {
    const cost = stored === undefined ? undefined : costOf(stored)
    if (stored === undefined || cost === undefined) return await this.#refuse(password, 0)
    const work = workOf(cost)
    if (work > workOf(this.#costliest) && work <= maxWork) this.#costliest = cost
    return await verify(stored, password) || await this.#refuse(password, work)
  }

  /**
   * Returns false after hashing for as long as the costliest known hash takes, less the work `done`. So every refusal
   * takes about the same time.
   */
  async #refuse (password: string, done: number): Promise<false> {
    const { passes, lanes } = this.#costliest
    const memoryKiB = Math.round((workOf(this.#costliest) - done) / passes)
    if (memoryKiB >= minMemoryOfLane * lanes) await verify(dummyHash({ memoryKiB, passes, lanes }), password)
    return false
  }
}

/** Returns the parameters of a stored hash; undefined if argon2 cannot read it. */
function costOf (stored: string): Cost | undefined {
  try {
    const { memoryCost, timeCost, parallelism } = parseOptions(stored)
    return { memoryKiB: memoryCost, passes: timeCost, lanes: parallelism }
  } catch {
    return undefined
  }
}

/**
 * Returns the work of checking a hash, in KiB: its memory times the passes over it. The time of a check grows with this
 * number. The lanes hardly matter.
 */
function workOf ({ memoryKiB, passes }: Cost): number {
  return memoryKiB * passes
}
