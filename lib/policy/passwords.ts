import { hash as digest, randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { errors, withRetryAfter } from '../errors.js'
import { maxPasswordBytes } from '../fields/field-kinds.js'
import { isSecret, type Column } from '../model/column.js'
import type { WritePlan } from '../plan/plan-write.js'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** Checks a password against a stored value that is not an argon2id hash. */
export type Verify = (password: string, stored: string) => boolean | Promise<boolean>

/** What is known of the user whose password is checked. */
export interface StoredPassword {
  /** The stored value; null if there is no such user or no value. */
  readonly stored: string | null
  /** How values of another form than argon2id are checked; without it they match nothing. */
  readonly verify?: Verify | undefined
}

/** What passwords are compared with where there is no hash; one serves a whole process, since making it takes a while. */
let dummyHash: Promise<string> | undefined

const maxRemembered = 1000
const rememberedFor = 10 * 60 * 1000
const maxWaiting = 128

/** Log-ins that check a password or wait for that; further ones are refused with 429. */
export const maxLogins = availableParallelism() + maxWaiting

/** The argon2id hash of a password, with OWASP's parameters, as a PHC string: what a `password()` column holds. */
export async function hashPassword (password: string): Promise<string> {
  return await hash(password)
}

/** Whether a stored value has the form that {@link hashPassword} gives. */
export function isHash (stored: string): boolean {
  return stored.startsWith('$argon2id$')
}

/**
 * Hashes and checks passwords for one container. A check costs the same whether the user exists or not; at most as many run at
 * once as there are cores. Basic sends the password with every request, so one that matched is remembered, under a key
 * that the stored hash is part of: a changed password is checked anew.
 */
export class Passwords {
  readonly #dummyHash: string
  readonly #key = randomBytes(32).toString('base64')
  readonly #remembered = new LRUCache<string, true>({ max: maxRemembered, ttl: rememberedFor, ttlResolution: 100 })
  readonly #running = new Map<string, Promise<boolean>>()
  readonly #limit = pLimit(availableParallelism())
  readonly #verifiers = new WeakMap<Verify, number>()
  #lastVerifier = 0

  private constructor (dummyHash: string) {
    this.#dummyHash = dummyHash
  }

  static async create (): Promise<Passwords> {
    dummyHash ??= hashPassword(randomBytes(32).toString('base64'))
    return new Passwords(await dummyHash)
  }

  /**
   * The values of a write with its passwords replaced by their hashes, as PHC strings.
   *
   * @throws REST_MODELS_TOO_MANY_LOGINS (429) as {@link matches}
   */
  hashIn (plan: WritePlan): WritePlan | Promise<WritePlan> {
    const secrets = [...plan.keys()].filter(isSecret)
    return secrets.length === 0 ? plan : this.#hashThese(secrets, plan)
  }

  async #hashThese (secrets: readonly Column[], plan: WritePlan): Promise<WritePlan> {
    const hashed = new Map(plan)
    for (const column of secrets) {
      const value = plan.get(column)
      if (typeof value === 'string') hashed.set(column, await this.#inTurn(async () => await hashPassword(value)))
    }
    return hashed
  }

  /**
   * Whether the password of the credentials matches the stored value.
   *
   * @throws REST_MODELS_TOO_MANY_LOGINS (429) with Retry-After if too many checks are waiting
   */
  matches ({ username, password }: Credentials, { stored, verify }: StoredPassword): boolean | Promise<boolean> {
    // All that the answer depends on; with the lengths, no two checks are written alike.
    const lengths = `${username.length} ${password.length} ${stored?.length ?? 'none'}`
    const check = `${this.#key} ${this.#numberOf(verify)} ${lengths} ${username} ${password} ${stored ?? ''}`
    // Half a surrogate pair is no UTF-8, in which another text may be the same.
    if (Buffer.byteLength(password) > maxPasswordBytes || !check.isWellFormed()) return false
    const name = digest('sha256', check, 'base64')
    return this.#remembered.get(name) === true || this.#check(name, password, { stored, verify })
  }

  async #check (name: string, password: string, { stored, verify }: StoredPassword): Promise<boolean> {
    const matches = await this.#once(name, async () => await this.#compare(password, stored, verify))
    if (matches) this.#remembered.set(name, true)
    return matches
  }

  /** What one policy's `verify` accepts, another policy may not. */
  #numberOf (verify: Verify | undefined): number {
    if (verify === undefined) return 0
    const number = this.#verifiers.get(verify) ?? ++this.#lastVerifier
    this.#verifiers.set(verify, number)
    return number
  }

  /** Requests that come at once with the same credentials wait for one check. */
  async #once (name: string, check: () => Promise<boolean>): Promise<boolean> {
    const running = this.#running.get(name)
    if (running !== undefined) return await running
    const started = this.#inTurn(check).finally(() => this.#running.delete(name))
    this.#running.set(name, started)
    return await started
  }

  async #inTurn<Result> (work: () => Promise<Result>): Promise<Result> {
    if (this.#limit.pendingCount >= maxWaiting) throw withRetryAfter(new errors.TooManyLogins(), 1)
    return await this.#limit(work)
  }

  async #compare (password: string, stored: string | null, verifyOther: Verify | undefined): Promise<boolean> {
    const hash = stored != null && isHash(stored) ? stored : undefined
    if (stored !== null && hash === undefined && verifyOther !== undefined) return await verifyOther(password, stored) === true
    try {
      return await verify(hash ?? this.#dummyHash, password) && hash !== undefined
    } catch {
      // What only looks like a hash matches nothing, and costs the same.
      await verify(this.#dummyHash, password)
      return false
    }
  }
}
