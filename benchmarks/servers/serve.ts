import type { FastifyInstance } from 'fastify'
import { endProfile, startProfile } from './profiler.js'

/** How messages are guarded: not at all, by Basic, or by Basic and their owner. */
export type PolicyName = 'open' | 'basic' | 'owner'

/** Of SQLite, as openSqlite has it: whether each commit waits for the disk. */
export type Durability = 'full' | 'normal'

/** What a server is started with. */
export interface ServerArguments {
  /** URL of its database. */
  readonly database: string
  readonly policy: PolicyName
  readonly durability: Durability
  /** How many models it has, where that is what is measured. */
  readonly models: number
}

/** What a server tells when it is asked. */
export interface Usage {
  readonly rss: number
  /** Microseconds of processor time since it started, in the process and in the system. */
  readonly cpu: number
}

/** What a server can be asked: what it uses, or for a profile of what it does between two questions, with the number of functions to name. */
export type Question = { readonly ask: 'usage' | 'profile' } | { readonly ask: 'functions', readonly count: number }

/** The environment variable that holds the arguments. */
export const inputVariable = 'BENCHMARK_INPUT'

export function readArguments (): ServerArguments {
  return JSON.parse(process.env[inputVariable] ?? '{}') as ServerArguments
}

/** Listens on a free port of the loopback, tells it, answers what it uses, and ends with the process that started it. */
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
