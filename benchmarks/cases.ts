import type { EngineName } from './engines/engine.js'
import { after, afterByFilter, create, createAsUser, deepPage, included, list, mixture, ofUser, own, read, search, update, type RequestMaker } from './requests.js'
import type { Durability, PolicyName } from './servers/serve.js'

/** One of the two servers that take turns, and its requests. */
export interface Side {
  /** `kysely` is by hand, too. It has only creates, with a row in an outbox. `other` is ours of another commit. */
  readonly server: 'ours' | 'other' | 'baseline' | 'kysely'
  readonly policy: PolicyName
  /** How many times the usual number of messages it has. */
  readonly times: number
  readonly durability: Durability
  readonly requests: RequestMaker
}

/** The least ratios by numbers of connections. */
export type Targets = Readonly<Record<number, number>>

interface CaseRow {
  readonly name: string
  readonly what: string
  /** Engines on which the case runs; all of them if absent. */
  readonly engines?: readonly EngineName[]
  /** Reason why the figure is not better. It is printed if the target is missed. */
  readonly bound?: string
}

/** Our server under load, in turns with another one: by default the baseline with the same requests. */
export interface RatioCase extends CaseRow, Partial<Side> {
  readonly kind: 'ratio'
  readonly requests: RequestMaker
  readonly against?: Partial<Side>
  /** The least ratios of processor time, by engine. */
  readonly target?: Partial<Record<EngineName, Targets>>
  /** If the two sides ask for different records: requests that give ours the same records in another way. */
  readonly same?: RequestMaker
  /** Headers that only one of the two sends. */
  readonly differs?: readonly string[]
}

export interface StartUpCase extends CaseRow {
  readonly kind: 'start-up'
  readonly models: readonly number[]
  /** Milliseconds at most with the most models. */
  readonly most: number
  /** Highest ratio of the time for one more model among many to that among few. */
  readonly steepest: number
}

export interface MemoryCase extends CaseRow {
  readonly kind: 'memory'
  readonly requests: RequestMaker
  /** How many times the memory may grow from a tenth of the requests to all of them. */
  readonly most: number
}

/** Our server in two processes against one. */
export interface ProcessesCase extends CaseRow {
  readonly kind: 'processes'
  readonly requests: RequestMaker
  /** How many times the requests of one process two must serve. */
  readonly least: number
}

export type Case = RatioCase | StartUpCase | MemoryCase | ProcessesCase

const onServers: Targets = { 8: 0.95, 50: 0.95 }
const withSqlite = (...targets: readonly [one: number, eight: number, fifty: number]) => ({ sqlite: at(...targets), postgres: onServers, mariadb: onServers })
const sqliteOnly = { engines: ['sqlite'] } as const

function at (one: number, eight: number, fifty: number): Targets {
  return { 1: one, 8: eight, 50: fifty }
}

/** Reasons that profiles of both sides show, function by function. */
const writes = 'profiles of both sides show: naming and checking each field, the digest of the credentials, hooks, and on servers steps that wait. On SQLite the system calls are the same. With one connection, each µs counts for more (measurements.md)'
const reads = 'profiles on a server show: steps that may wait (2 µs), the deadline of each statement, and the code that closes a broken connection (1 to 2)'
const outbox = 'hooks get Kysely, which takes 50 µs more by hand, too (create-outbox-kysely). The rest is the create itself, and a transaction whose steps may wait: begin, two inserts, commit (measurements.md)'
const scoped = 'what the list without a scope misses with one connection (list-20), the deadline of the statement (2.6 µs), and planning the conditions (4). By hand they are part of the program (measurements.md)'
const tags = 'of the 1.5 to 2 µs, 0.7 are the header, and the rest the JSON of the record and its hash (measurements.md)'
const lists = 'profiles of a list of 20 on PostgreSQL show: numbers and moments, which come as text (3 µs), garbage (2), steps that may wait (1 to 2), reading and planning the query (2). On SQLite with Node 24 row objects cost little, and nothing in the profile takes more than by hand: rows, socket and serializing are left'

/** All cases. */
export const cases = [
  { kind: 'ratio', name: 'read', what: 'read by id, random ids', requests: read, target: withSqlite(0.95, 0.95, 1), bound: reads },
  { kind: 'ratio', name: 'read-tagged', what: 'read by id of a resource with entity tags against our own without', requests: read, policy: 'tagged', against: { server: 'ours', policy: 'open' }, differs: ['etag'], bound: tags, target: { sqlite: at(0.93, 0.93, 0.93), postgres: at(0.93, 0.93, 0.93), mariadb: at(0.93, 0.93, 0.93) } },
  { kind: 'ratio', name: 'list-20', what: 'first page of 20', requests: list(20), target: withSqlite(1, 1.05, 1.2), bound: lists },
  { kind: 'ratio', name: 'list-100', what: 'first page of 100', requests: list(100), target: withSqlite(1.05, 1.1, 1.2), bound: lists },
  {
    kind: 'ratio',
    name: 'filtered',
    what: "20 of a user's messages by a join, newest first, random users",
    requests: ofUser,
    target: { sqlite: at(1, 1.05, 1.2) },
    bound: 'the deadline, for which SQLite draws a random number at each of the 107 rows that are sorted (9 µs in process), and reading and planning the query. SQLite 3.54 (better-sqlite3 13, Node 22 and later) also looks at the value that a column is compared with. So it prepares the statement by hand anew each time; ours hides the value of a unique field from it'
  },
  { kind: 'ratio', name: 'list-20-scoped', what: 'first page of 20 within a scope: the messages of the user, by a login of the host', requests: own, policy: 'scoped', target: withSqlite(0.95, 0.95, 0.95), bound: scoped },
  { kind: 'ratio', name: 'include', what: 'first page of 20 comments with `include=message,user`, against the same joins by hand', requests: included, policy: 'related', target: withSqlite(0.95, 0.95, 0.95) },
  { kind: 'ratio', name: 'search', what: 'list with six filters, two of them through a join', requests: search },
  { kind: 'ratio', name: 'deep-page', what: 'the page of 20 behind 80 % of the rows, by its number (page 4,000)', requests: deepPage },
  { kind: 'ratio', name: 'create', what: 'create, without credentials', requests: create, policy: 'open', target: withSqlite(0.9, 0.95, 1.2), bound: writes },
  { kind: 'ratio', name: 'create-outbox', what: 'create with a row in an outbox, in one transaction', requests: create, policy: 'outbox', bound: outbox, target: { sqlite: at(0.9, 0.9, 0.9), postgres: at(0.9, 0.9, 0.9), mariadb: at(0.9, 0.9, 0.9) } },
  { kind: 'ratio', name: 'create-outbox-durable', what: 'the same, as durable as by default', requests: create, policy: 'outbox', durability: 'full', bound: outbox, target: { sqlite: at(0.9, 0.9, 0.9) }, ...sqliteOnly },
  { kind: 'ratio', name: 'create-outbox-kysely', what: 'create with an outbox against a server by hand that uses Kysely for both rows, as the hook does for its own', requests: create, policy: 'outbox', against: { server: 'kysely' } },
  { kind: 'ratio', name: 'update', what: 'update by the owner, under Basic with argon2id on both sides', requests: update, target: withSqlite(0.9, 0.95, 1.2), bound: writes },
  { kind: 'ratio', name: 'create-durable', what: "create, as durable as by default (durability 'full', synchronous = full)", requests: create, policy: 'open', durability: 'full', bound: writes, target: { sqlite: at(0.9, 0.95, 1.2) }, ...sqliteOnly },
  { kind: 'ratio', name: 'update-durable', what: 'update by the owner, as durable as by default', requests: update, durability: 'full', bound: writes, target: { sqlite: at(0.9, 0.95, 1.2) }, ...sqliteOnly },
  {
    kind: 'ratio',
    name: 'create-basic',
    what: 'create under Basic with argon2id, warm, against our own create without',
    requests: createAsUser,
    policy: 'basic',
    against: { server: 'ours', policy: 'open', requests: create },
    differs: ['cache-control'],
    target: { sqlite: at(0.85, 0.85, 0.85), postgres: at(0.85, 0.85, 0.85), mariadb: at(0.85, 0.85, 0.85) },
    bound: 'in process 4 µs: reading the user for each request, so that a change counts at once (2.4), the digest of the credentials (0.7), the header (0.4), steps that may wait (0.4). Under load all this takes 5 to 8 µs, by hand 5 to 10. The create without credentials, with which it is compared, takes two thirds of the time by hand, because writes that arrive together are committed together'
  },
  { kind: 'ratio', name: 'create-basic-by-hand', what: 'create under Basic with argon2id, warm', requests: createAsUser, policy: 'basic', target: { sqlite: at(0.9, 0.95, 1.05) }, bound: writes },
  {
    kind: 'ratio',
    name: 'list-growth',
    what: 'our first page of 20 with ten times the rows against our own with the usual number',
    requests: list(20),
    times: 10,
    against: { server: 'ours', times: 1 },
    target: { sqlite: at(0.95, 0.95, 0.95) },
    ...sqliteOnly
  },
  {
    kind: 'ratio',
    name: 'after',
    what: '`after` page at 80 % of the rows against our own first page',
    requests: after,
    against: { server: 'ours', requests: list(20) },
    same: afterByFilter,
    target: { sqlite: at(0.9, 0.9, 0.9) },
    bound: 'the cost does not grow with the depth (after-growth). Profiles show 7 to 8 µs: the statement seeks and compares (4), a cursor is read and the next one written (3). The first page, with which it is compared, became faster by more than that'
  },
  {
    kind: 'ratio',
    name: 'after-growth',
    what: '`after` page at 80 % of ten times the rows against the same page of the usual number',
    requests: after,
    times: 10,
    against: { server: 'ours', times: 1 },
    same: afterByFilter,
    target: { sqlite: at(0.9, 0.9, 0.9) },
    ...sqliteOnly
  },
  { kind: 'processes', name: 'two-processes', what: 'read by id, two processes against one', requests: read, least: 1.7 },
  { kind: 'start-up', name: 'start-up', what: 'from the start of the process, not pinned, to the first 200', models: [10, 100, 200], most: 1500, steepest: 1.3, bound: 'a model has ten routes with their schemas, and serializers that are compiled', ...sqliteOnly },
  { kind: 'memory', name: 'memory', what: 'a mixture of reads, lists and creates', requests: mixture, most: 1.2, bound: 'on Node 24 the young generation of V8, which grows further than that of Node 20, also after 20,000 requests: 144, 232 and 239 MiB after 20,000, 200,000 and 400,000. With --max-semi-space-size=16 it is 142, 157 and 160 (× 1.11). On MariaDB with Node 20 the options that the driver copies for each statement. V8 keeps the copies in the old generation until it first collects that: 137, 185 and 127 MiB after 20,000, 80,000 and 100,000 requests, and 132 after 240,000' }
] as const satisfies readonly Case[]
