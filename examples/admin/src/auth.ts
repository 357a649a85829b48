import { RestModelsError } from 'fastify-rest-models/client'
import type { AuthProvider } from 'react-admin'
import { client } from './api'
import { basic, session } from './session'

const forget = () => Object.assign(session, { user: undefined, headers: {} })

/** Who may do what. The server decides; this hides the buttons that it would refuse. */
function permits (action: string, resource: string, record?: { author_id?: number }): boolean {
  const { user } = session
  if (user === undefined) return false
  const isManager = user.admin || user.role === 'manager'
  if (resource === 'audit') return isManager && ['list', 'show', 'export'].includes(action)
  if (['list', 'show', 'export'].includes(action) || resource === 'task') return true
  if (resource === 'company') return user.admin
  if (resource === 'comment') return record === undefined || record.author_id === user.id
  return isManager
}

export const authProvider: AuthProvider = {
  login: async ({ username, password }) => {
    session.headers = basic(username, password)
    try {
      const { objects } = await client.member.list({ username })
      session.user = objects[0]
    } catch (error) {
      forget()
      throw error instanceof RestModelsError && error.status === 401 ? new Error('Wrong user name or password') : error
    }
  },
  logout: async () => { forget() },
  checkAuth: async () => {
    if (session.user === undefined) throw new Error('Please log in')
  },
  checkError: async ({ status }) => {
    if (status === 401) throw new Error('Please log in again')
  },
  getIdentity: async () => ({ id: session.user?.id ?? 0, fullName: session.user?.full_name ?? '' }),
  canAccess: async ({ action, resource, record }) => permits(action, resource, record)
}
