import { errors, userOf } from 'fastify-rest-models'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { WorkspaceTables } from './seed.js'

/**
 * Refuses changes of members that are admins to everybody but admins. Otherwise a manager could set the password of an
 * admin. The hook is added behind those of the resource, so the user and the record are known to be there.
 */
export function protectAdmins (app: FastifyInstance, db: Kysely<WorkspaceTables>): void {
  const refuse = async (request: FastifyRequest): Promise<void> => {
    const { id } = request.params as { readonly id: string }
    const member = await db.selectFrom('member').select('admin').where('id', '=', Number(id)).executeTakeFirst()
    if (Boolean(member?.admin) && userOf(request)?.admin !== true) throw new errors.Forbidden()
  }
  app.addHook('onRoute', (route) => {
    const isChange = ['PUT', 'PATCH', 'DELETE'].some((method) => [route.method].flat().includes(method))
    if (isChange && /^\/api\/member\/:id\/?$/.test(route.url)) {
      route.preHandler = [...[route.preHandler ?? []].flat(), refuse]
    }
  })
}
