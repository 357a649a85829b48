import { hashPassword, type DatabaseOf } from 'fastify-rest-models'
import type { Kysely } from 'kysely'
import type { models } from './models.js'

export type WorkspaceTables = DatabaseOf<typeof models>

const companies = ['Acme', 'Globex'] as const

const members = [
  { username: 'root', company: 'Acme', full_name: 'Root Rivers', role: 'manager', active: 1, admin: 1 },
  { username: 'ann', company: 'Acme', full_name: 'Ann Archer', role: 'manager', active: 1, admin: 0 },
  { username: 'art', company: 'Acme', full_name: 'Art Atkins', role: 'member', active: 1, admin: 0 },
  { username: 'gus', company: 'Globex', full_name: 'Gus Garcia', role: 'manager', active: 1, admin: 0 },
  { username: 'gil', company: 'Globex', full_name: 'Gil Gordon', role: 'member', active: 1, admin: 0 },
  { username: 'old', company: 'Acme', full_name: 'Old Osborne', role: 'member', active: 0, admin: 0 }
] as const

const projects = [
  { name: 'Apollo', company: 'Acme', budget: 120000, tasks: 30 },
  { name: 'Atlas', company: 'Acme', budget: 45500.5, tasks: 30 },
  { name: 'Archive', company: 'Acme', budget: null, tasks: 5, archived: 1 },
  { name: 'Apollo', company: 'Globex', budget: 98000, tasks: 30 },
  { name: 'Gamma', company: 'Globex', budget: null, tasks: 30 },
  { name: 'Glacier', company: 'Globex', budget: 7250.25, tasks: 30 }
] as const

/** The two members of each company who work on its tasks. */
const workers = { Acme: ['ann', 'art'], Globex: ['gus', 'gil'] } as const

const topics = ['Draft', 'Review', 'Budget', 'Test', 'Launch', 'Translation', 'Backup'] as const
const remarks = ['I can start on Monday.', 'Good, I will look at it afterwards.'] as const

/** All tasks, with their numbers in their projects. Their UUIDs are numbered in decimal. */
const tasks = projects.flatMap((project) => numbers(project.tasks).map((number) => ({ project, number })))
  .map((task, index) => ({ ...task, id: `00000000-0000-7000-8000-${String(index + 1).padStart(12, '0')}` }))

/** Accounts in one line, for people. */
export const accounts = members.map(({ username, company, role, admin, active }) =>
  `${username} (${company}, ${admin ? 'admin' : role}${active ? '' : ', not active'})`).join(', ')

/**
 * Fills a new database with two companies and their members, projects, tasks and comments. Passwords are the user
 * names. If several processes start at the same moment, only one succeeds.
 */
export async function seedOnce (db: Kysely<WorkspaceTables>): Promise<void> {
  if (!await isEmpty(db)) return
  const passwords = await Promise.all(members.map(async ({ username }) => await hashPassword(username)))
  try {
    await db.transaction().execute(async (transaction) => { await seed(transaction, passwords) })
  } catch (error) {
    if (await isEmpty(db)) throw error
  }
}

async function isEmpty (db: Kysely<WorkspaceTables>): Promise<boolean> {
  return await db.selectFrom('company').select('id').limit(1).executeTakeFirst() === undefined
}

async function seed (db: Kysely<WorkspaceTables>, passwords: readonly string[]): Promise<void> {
  await db.insertInto('company').values(companies.map((name) => ({ name }))).execute()
  const companyIds = await idsOf(db, 'company', companies)
  await db.insertInto('member').values(members.map(({ company, ...member }, index) => (
    { ...member, company_id: companyIds.get(company)!, password: passwords[index]! }))).execute()
  const memberIds = await idsOf(db, 'member', members.map(({ username }) => username))
  await db.insertInto('project').values(projects.map(({ company, tasks, ...project }) => (
    { archived: 0, ...project, company_id: companyIds.get(company)! }))).execute()
  const projectIds = await idsOf(db, 'project', projects)

  await db.insertInto('task').values(tasks.map(({ id, project, number }) => ({
    id,
    project_id: projectIds.get(project)!,
    title: `${topics[number % topics.length]} of ${project.name}, no. ${number + 1}`,
    // Of three tasks nobody has the first, the second is under way, and the third is done.
    assignee_id: number % 3 === 0 ? null : memberIds.get(workers[project.company][number % 2]!)!,
    done: number % 3 === 2 ? 1 : 0,
    due: number % 4 === 0 ? null : dayAfter('2026-03-01', number),
    created_at: `${dayAfter('2026-01-05', number)} 09:30:00`,
    updated_at: `${dayAfter('2026-01-05', number)} 09:30:00`
  }))).execute()
  const discussed = tasks.filter(({ number }) => number < 10)
  await db.insertInto('comment').values(discussed.flatMap(({ id, project, number }) => remarks.map((text, index) => ({
    task_id: id,
    author_id: memberIds.get(workers[project.company][index]!)!,
    text,
    created_at: `${dayAfter('2026-01-06', number)} 1${index}:00:00`
  })))).execute()
}

/** Returns the ids of a table in the order in which its rows were written. In a cluster they are not 1, 2, 3. */
async function idsOf<Key> (
  db: Kysely<WorkspaceTables>, table: 'company' | 'member' | 'project', keys: readonly Key[]
): Promise<ReadonlyMap<Key, number>> {
  const rows = await db.selectFrom(table).select('id').orderBy('id').execute()
  return new Map(keys.map((key, index) => [key, rows[index]!.id]))
}

function numbers (count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

function dayAfter (first: string, days: number): string {
  const day = new Date(`${first}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() + days)
  return day.toISOString().slice(0, 10)
}
