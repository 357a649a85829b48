import { hash as digest, randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash } from '@node-rs/argon2'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { withinTime } from '../database/host-failure.js'
import { errors, withRetryAfter } from '../errors.js'
import { Events } from '../events/events.js'
import type { LoginMessage } from '../events/messages.js'
import { fieldKinds, maxPasswordBytes } from '../fields/field-kinds.js'
import { isSecret } from '../model/column.js'
import type { WritePlan } from '../plan/plan-write.js'
import { StoredHashes } from './stored-hashes.js'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/**
 * Checks a password against a stored value that is not an argon2id hash. The user is let in only if the result is
 * `true`, at once or as a promise. A login whose check takes longer than 5 seconds is refused with 503.
 */
export type Verify = (password: string, stored: string) => boolean | Promise<boolean>

/** The stored password of the user who logs in, and how to check it. */
export interface StoredPassword {
  /** The stored value; null if there is no such user or no value, or if the user is not active. */
  readonly stored: string | null
  /** Checks values that are not argon2id hashes; without it they match no password. */
  readonly verify?: Verify | undefined
}

/** Most successful password checks that are remembered, over all users. One more drops the least recently used. */
const maxRemembered = 1000

/** Milliseconds for which a successful password check is remembered. */
const rememberMs = 10 * 60 * 1000

/**
 * Milliseconds that `verify` may take. A login whose `verify` takes longer is refused with 503, and no longer keeps
 * others waiting.
 */
const maxVerifyMs = 5000

/** Passwords of all clients that may wait to be checked or hashed. A further one is refused with 429. */
const maxWaiting = 128

/** Most log-ins that check a password (one for each core) or wait for that. Further ones are refused with 429. */
export const maxLogins = availableParallelism() + maxWaiting

/**
 * Returns the argon2id hash of a password, with OWASP's parameters, as a PHC string for a `password()` column.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if nobody could log in with the password: it is not text, takes more than 1,024
 *   bytes, or contains control characters, which HTTP Basic cannot carry
 */
export async function hashPassword (password: string): Promise<string> {
  const { accept, expects } = fieldKinds.password
  if (typeof password !== 'string' || accept(password, {}) === undefined) {
    throw new errors.InvalidOptions(`hashPassword() takes ${expects}`)
  }
  return await hash(password)
}

/** True if a stored value begins like an argon2id hash. The rest of it is not checked. */
export function isHash (stored: string): boolean {
  return stored.startsWith('$argon2id$')
}

/**
 * Hashes and checks passwords, at most as many at once as there are cores. A check takes as long for a user who does
 * not exist as for one who does, except if the function {@link Verify} of the application checks the password. HTTP
 * Basic sends the password with every request, so a check that matched is remembered for 10 minutes. The stored value
 * is part of what is remembered, so a changed password is checked anew.
 */
export class Passwords {
  readonly #hashes = new StoredHashes()
  readonly #salt = randomBytes(32).toString('base64')
  readonly #remembered = new LRUCache<string, true>({ max: maxRemembered, ttl: rememberMs, ttlResolution: 100 })
  readonly #running = new Map<string, Promise<boolean>>()
  readonly #limit = pLimit(availableParallelism())
  readonly #events: Events
  readonly #verifiers = new WeakMap<Verify, number>()
  #lastVerifier = 0

  /**
   * @param events  gets an event for each login whose password a check finds right or wrong, whose check fails, or that
   *   is refused because too many wait; none for a login whose result is remembered from an earlier check
   */
  constructor (events: Events = new Events()) {
    this.#events = events
  }

  /**
   * Returns the values of a write with its passwords replaced by their hashes, as PHC strings; the same `plan` if it
   * sets no password.
   *
   * @throws REST_MODELS_TOO_MANY_LOGINS (429) as {@link matches}
   */
  hashIn (plan: WritePlan): WritePlan | Promise<WritePlan> {
    for (const column of plan.keys()) if (isSecret(column)) return this.#hashSecrets(plan)
    return plan
  }

  async #hashSecrets (plan: WritePlan): Promise<WritePlan> {
    const hashed = new Map(plan)
    for (const [column, value] of plan) {
      if (!isSecret(column) || typeof value !== 'string') continue
      hashed.set(column, await this.#inTurn(async () => await hashPassword(value)))
    }
    return hashed
  }

  /**
   * True if the password of the credentials matches the stored value. A password of more than {@link maxPasswordBytes}
   * never matches, nor do credentials that are not well-formed Unicode. If the result is not known from an earlier
   * login, the event `login` is published with the result, or with `too-many` or `failed`.
   *
   * @throws REST_MODELS_TOO_MANY_LOGINS (429) with Retry-After if too many checks are waiting;
   *   REST_MODELS_UNAVAILABLE (503) if `verify` takes longer than {@link maxVerifyMs}
   */
  matches ({ username, password }: Credentials, { stored, verify }: StoredPassword): boolean | Promise<boolean> {
    // The text holds everything that the result depends on. Because of the lengths, two different checks never have the
    // same text.
    const lengths = `${username.length} ${password.length} ${stored?.length ?? 'none'}`
    const number = verify === undefined ? 0 : this.#numberOf(verify)
    const check = `${this.#salt} ${number} ${lengths} ${username} ${password} ${stored ?? ''}`
    // Half a surrogate pair has no UTF-8 of its own, so another text could have the same bytes, and thus the same
    // digest.
    if (Buffer.byteLength(password) > maxPasswordBytes || !check.isWellFormed()) return false
    const name = digest('sha256', check, 'base64')
    return this.#remembered.get(name) === true || this.#check(name, password, { stored, verify })
  }

  async #check (name: string, password: string, { stored, verify }: StoredPassword): Promise<boolean> {
    const start = performance.now()
    const publish = (outcome: LoginMessage['outcome']): void => {
      this.#events.publish('login', { outcome, duration: performance.now() - start })
    }
    try {
      const matches = await this.#once(name, async () => await this.#compare(password, stored, verify))
      if (matches) this.#remembered.set(name, true)
      publish(matches ? 'accepted' : 'refused')
      return matches
    } catch (failure) {
      publish(failure instanceof errors.TooManyLogins ? 'too-many' : 'failed')
      throw failure
    }
  }

  /**
   * Returns a number for a `verify` function: the same one for the same function, and at least 1. Remembered checks
   * include the number, because one policy's `verify` may accept a password that another policy's `verify` refuses.
   */
  #numberOf (verify: Verify): number {
    const number = this.#verifiers.get(verify) ?? ++this.#lastVerifier
    this.#verifiers.set(verify, number)
    return number
  }

  /** Runs one check for all requests that come at the same time with the same credentials. */
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
    if (stored !== null && hash === undefined && verifyOther !== undefined) {
      const verify = (): ReturnType<Verify> => verifyOther(password, stored)
      return await withinTime(maxVerifyMs, "The function 'verify' of a policy", verify) === true
    }
    return await this.#hashes.match(password, hash)
  }
}
