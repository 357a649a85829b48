// @once: checked by the compiler

import type { Http2Server, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type {
  FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault
} from 'fastify'
import { test } from 'tap'
import { userOf, type PolicyUser } from '../../lib/index.js'
import { inspect, type Inspection } from '../../lib/tools.js'
import { Message } from '../support/site.js'

// The compiler is what these checks are for, as in types.test.ts.

/** A logger that can do more than Fastify asks of one, as that of pino. */
interface AuditLogger extends FastifyBaseLogger {
  audit (user: PolicyUser | null): void
  child (): AuditLogger
}
type LoggedApp = FastifyInstance<
  RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, AuditLogger, TypeBoxTypeProvider
>
type Http2App = FastifyInstance<Http2Server, Http2ServerRequest, Http2ServerResponse>

const inspected = async (logged: LoggedApp, http2: Http2App): Promise<Inspection[]> =>
  [await inspect(logged), await inspect(http2)]

test('D-136: guard() and userOf() fit apps with any server, logger and type provider', (t) => {
  const plain = (app: FastifyInstance): void => {
    const hooks = app.restModels.guard(Message, 'update')
    app.post('/publish/:id/', { preHandler: hooks }, async (request) => userOf(request))
    app.post('/print/:id/', { preHandler: [async () => {}, ...hooks] }, async (request) => userOf(request))
    for (const hook of hooks) app.addHook('preHandler', hook)
  }
  const logged = (app: LoggedApp): void => {
    const hooks = app.restModels.guard(Message, 'update')
    const schema = { params: Type.Object({ id: Type.Integer() }) }
    app.post('/publish/:id/', { schema, preHandler: hooks }, async (request) => {
      request.log.audit(userOf(request))
      return request.params.id satisfies number
    })
    for (const hook of hooks) app.addHook('preHandler', hook)
  }
  const http2 = (app: Http2App): void => {
    const hooks = app.restModels.guard(Message, 'update')
    app.post('/publish/:id/', { preHandler: hooks }, async (request) => userOf(request))
    for (const hook of hooks) app.addHook('preHandler', hook)
  }
  // @ts-expect-error anything but a request
  t.equal(userOf({}), null)
  t.equal([plain, logged, http2, inspected].length, 4)
  t.end()
})
