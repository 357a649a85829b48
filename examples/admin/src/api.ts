import { createClient } from 'fastify-rest-models/client'
import { createDataProvider } from 'fastify-rest-models/react-admin'
// Types alone: nothing of the server is in the bundle.
import type { Audit, Comment, Company, Member, Project, Task } from '../../workspace/models.js'
import { session } from './session'

type Resources = [
  typeof Company, { model: typeof Member, exclude: ['password'] }, typeof Project, typeof Task,
  { model: typeof Comment, ownerField: 'author' }, typeof Audit
]

export const client = createClient<Resources>({
  baseUrl: location.origin,
  headers: () => session.headers,
  // The browser must not add a login of its own, nor ask for one.
  credentials: 'omit'
})

export const dataProvider = createDataProvider(client)
