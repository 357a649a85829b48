import { hash } from '@node-rs/argon2'
import type { Kysely } from 'kysely'
import { boolean, createTables, defineModel, foreignKey, password, text } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import type { Tables } from '../../lib/engines/executor.js'

/** What the apps of these tests serve: entries with an owner, and a label that no other entry has. */
export const User = defineModel('User', {
  username: text({ unique: true }), password: password(), active: boolean({ default: true })
})
export const Entry = defineModel('Entry', {
  user: foreignKey(() => User), label: text({ unique: true }), note: text({ default: '' })
})

/** Their passwords are their names. */
export const owners = ['alice', 'bob'] as const
export type Owner = (typeof owners)[number]

/** The entries that each owner has from the beginning, by id. */
export type Seeds = Readonly<Record<Owner, readonly number[]>>
const seedsPerOwner = 10

/** A handle as a deployer has it: the URL says which engine it is. */
export function open (url: string): Kysely<Tables> {
  return url.startsWith('postgres') ? openPostgres(url) : openMariadb(url)
}

/** Makes the tables, the owners and their first entries on an empty database. */
export async function seed (url: string): Promise<Seeds> {
  const db = open(url)
  try {
    await createTables(db, [User, Entry])
    return { alice: await seedOwner(db, 'alice'), bob: await seedOwner(db, 'bob') }
  } finally {
    await db.destroy()
  }
}

async function seedOwner (db: Kysely<Tables>, owner: Owner): Promise<number[]> {
  const user = await db.insertInto('user').values({ username: owner, password: await hash(owner), active: 1 })
    .returning('id').executeTakeFirstOrThrow()
  const entries = Array.from(
    { length: seedsPerOwner }, (_, number) => ({ user_id: user['id'], label: `seed ${owner} ${number}`, note: '' })
  )
  const rows = await db.insertInto('entry').values(entries).returning('id').execute()
  return rows.map((row) => Number(row['id']))
}
