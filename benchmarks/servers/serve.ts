import type { FastifyInstance } from 'fastify'
import { endProfile, startProfile } from './profiler.js'

/**
 * Guard of messages: none, Basic, Basic and the owner rule, or a scope. `tagged` and `outbox` have none: messages then have
 * entity tags, or each create also adds a row to an outbox in its transaction. `related` has none either, and
 * comments that include messages and users.
 */
export type PolicyName = 'open' | 'basic' | 'owner' | 'scoped' | 'tagged' | 'outbox' | 'related'

/** Durability of SQLite, as in openSqlite: whether each commit waits for the disk. */
export type Durability = 'full' | 'normal'

/** Arguments of a server. */
export interface ServerArguments {
  /** URL of its database. */
  readonly database: string
  readonly policy: PolicyName
  readonly durability: Durability
  /** Number of models, if that is measured. */
  readonly models: number
  /** Number of processes, if several serve. */
  readonly processes: number
}

/** Resources that a server has used. */
export interface Usage {
  readonly rss: number
  /** Microseconds of processor time since it started, in the process and in the system. */
  readonly cpu: number
}

/** Questions to a server: its use of resources, or a profile of the time between two questions, with so many functions. */
export type Question = { readonly ask: 'usage' | 'profile' } | { readonly ask: 'functions', readonly count: number }

/** The environment variable that holds the arguments. */
export const inputVariable = 'BENCHMARK_INPUT'

export function readArguments (): ServerArguments {
  return JSON.parse(process.env[inputVariable] ?? '{}') as ServerArguments
}

/** Listens on a free loopback port, reports the port, answers questions, and ends with the process that started it. */
export async function serve (app: FastifyInstance): Promise<void> {
  process.on('message', async (question: Question) => { process.send?.(await answerOf(question)) })
  process.once('disconnect', () => { process.exit() })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  process.send?.({ port: Number(new URL(address).port) })
}

async function answerOf (question: Question): Promise<object> {
  if (question.ask === 'functions') return await endProfile(question.count)
  if (question.ask === 'profile') await startProfile()
  const { user, system } = process.cpuUsage()
  return { rss: process.memoryUsage.rss(), cpu: user + system } satisfies Usage
}
