import { hashPassword } from 'fastify-rest-models'
import type { SiteDatabase } from './database.js'

export const accounts = [
  { username: 'admin', admin: 1, active: 1 },
  { username: 'alice', admin: 0, active: 1 },
  { username: 'bob', admin: 0, active: 1 },
  { username: 'carol', admin: 0, active: 0 }
] as const

/** Lists accounts in one line, for people. */
export function toLine (users: ReadonlyArray<{ username: string, admin: number, active: number }>): string {
  return users.map(({ username, admin, active }) => `${username}${admin ? ' (admin)' : ''}${active ? '' : ' (not active)'}`).join(', ')
}

const topics = ['hello', 'the weather', 'lunch', 'a good book', 'the train', 'garden news', 'a question', 'thanks', 'music', 'good night']

/** Fills an empty database with users, who follow each other, and with their messages. Passwords are the user names. */
export async function seed (db: SiteDatabase): Promise<void> {
  const users = await Promise.all(accounts.map(async ({ username, admin, active }) => (
    { username, password: await hashPassword(username), email: `${username}@example.com`, admin, active })))
  await db.transaction().execute(async (transaction) => {
    await transaction.insertInto('user').values(users).execute()
    // In a cluster with several writers, ids are not 1, 2, 3, 4.
    const [admin = 0, alice = 0, bob = 0, carol = 0] = (await transaction.selectFrom('user').select('id').orderBy('id').execute()).map(({ id }) => id)
    await transaction.insertInto('relationship').values([
      { from_user_id: alice, to_user_id: bob },
      { from_user_id: bob, to_user_id: alice },
      { from_user_id: alice, to_user_id: admin },
      { from_user_id: carol, to_user_id: alice }
    ]).execute()
    await transaction.insertInto('message').values(numbers(36).map((number) => ({
      user_id: [alice, bob, admin, alice, carol, bob][number % 6] ?? alice,
      content: `${topics[number % topics.length]}, no. ${number + 1}`,
      pub_date: dayAfter('2024-01-01', number)
    }))).execute()
    await transaction.insertInto('note').values(numbers(25).map((number) => (
      { message: `Note ${number + 1} on ${topics[number % topics.length]}`, created: dayAfter('2024-03-01', number) }))).execute()
  })
}

function numbers (count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

function dayAfter (first: string, days: number): string {
  const moment = new Date(`${first}T09:30:00Z`)
  moment.setUTCDate(moment.getUTCDate() + days)
  return moment.toISOString().slice(0, 19).replace('T', ' ')
}
