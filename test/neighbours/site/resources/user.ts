import type { FastifyInstance } from 'fastify'
import { adminAuth } from '../../../../lib/index.js'
import { User } from '../../../support/site.js'

export default async function user (app: FastifyInstance): Promise<void> {
  app.restModels.register(User, { auth: adminAuth(User), exclude: ['password', 'email'] })
}
