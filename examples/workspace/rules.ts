import type { FastifyError, FastifyRequest } from 'fastify'
import { errors, invalidRecord, userOf, type FinishedWrite, type PlannedWrite } from 'fastify-rest-models'
import { MysqlAdapter, sql } from 'kysely'
import type { Member, Task } from './models.js'

/** Only admins change members that are admins, and no manager changes the own role. */
export function protectMembers ({ stored, values, user }: PlannedWrite<typeof Member>): void {
  if (stored === undefined || user?.admin === true) return
  const isOwnRole = stored.id === user?.id && values.role !== undefined
  // Whoever may set the password of an admin can log in as that admin.
  if (stored.admin || isOwnRole) throw new errors.Forbidden()
}

/**
 * An error handler: no manager changes the own company, which is a 403. The scope refuses it for a fault of the body, a
 * 400, before any hook is called.
 */
export function forbidOwnCompany (error: FaultyError, request: FastifyRequest): never {
  const { url = '' } = request.routeOptions
  const user = userOf(request)
  const isOwn = url.startsWith('/api/member/:id') && (request.params as { readonly id: string }).id === String(user?.id)
  const isCompany = error.details?.some(({ field }) => field === 'company' || field === 'company_id') === true
  throw isOwn && isCompany && user?.admin === false ? new errors.Forbidden() : error
}

interface FaultyError extends FastifyError {
  readonly details?: ReadonlyArray<{ readonly field: string }>
}

/** A task is done only if somebody did it. */
export function requireAssignee ({ operation, stored, values }: PlannedWrite<typeof Task>): void {
  const task = { ...stored, ...values }
  if (operation !== 'delete' && task.done === true && (task.assignee_id ?? null) === null) {
    throw invalidRecord({ assignee_id: 'must be set before the task is done' })
  }
}

/**
 * An archived project takes no new tasks. Nobody archives the project meanwhile: the foreign key of the task that is
 * written holds the project until the end of this transaction, and an update of a project locks it first.
 */
export async function requireOpenProject ({ record, stored, db }: FinishedWrite<typeof Task>): Promise<void> {
  if (record.project_id === stored?.project_id) return
  // Without a lock, MariaDB would read the project as it was when this transaction read for the first time.
  const isMariadb = db.getExecutor().adapter instanceof MysqlAdapter
  const project = await db.selectFrom('project').select('archived').where('id', '=', record.project_id)
    .$if(isMariadb, (query) => query.modifyEnd(sql`lock in share mode`))
    .executeTakeFirst()
  if (project?.['archived']) throw invalidRecord({ project_id: 'must not lead to an archived project' })
}
