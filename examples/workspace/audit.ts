import type { ClosedPolicy, FinishedWrite, Identity, Model } from 'fastify-rest-models'

/** A finished write of any resource whose users are logged in. */
type AuditedWrite = FinishedWrite<Model, ClosedPolicy<Identity>>
type HookDatabase = FinishedWrite['db']

/**
 * Adds a row about a write to the audit. It is stored in the transaction of the write: both are there, or neither.
 *
 * @param resource  name of the resource that was written to
 * @param company   id of the company that the record belongs to, or a query for it
 */
export async function audit (
  { operation, record, user, db }: AuditedWrite, resource: string, company: number | ReturnType<typeof companyOfProject>
): Promise<void> {
  await db.insertInto('audit')
    .values({ company_id: company, member_id: user.id, operation, resource, record: String(record.id) })
    .execute()
}

export function companyOfProject (db: HookDatabase, project: number) {
  return db.selectFrom('project').select('company_id').where('id', '=', project)
}

export function companyOfTask (db: HookDatabase, task: string) {
  return db.selectFrom('project').select('company_id')
    .where('id', '=', db.selectFrom('task').select('project_id').where('id', '=', task))
}
