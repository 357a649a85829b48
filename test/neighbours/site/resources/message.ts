import type { FastifyInstance } from 'fastify'
import { userAuth } from '../../../../lib/index.js'
import { Message, User } from '../../../support/site.js'

export default async function message (app: FastifyInstance): Promise<void> {
  app.restModels.register(Message, { auth: userAuth(User), ownerField: 'user' })
}
