import { verify } from '@node-rs/argon2'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from './baseline-replies.js'

export interface UserRow {
  readonly id: number
  readonly password: string
  readonly active: number | boolean
}

const kUserId = Symbol('user')
const maxRemembered = 1000

/** Who sent a request that the hook of {@link basicAuth} let through. */
export function userIdOf (request: FastifyRequest): number {
  return request.getDecorator<number>(kUserId)
}

/**
 * Returns a preHandler hook for Basic authentication with argon2id. Like the plugin, it reads the user for each request, so
 * that a changed password counts at once, and remembers passwords that matched. It does so in the simplest way: by the
 * header, which thus stays in memory.
 */
export function basicAuth (findUser: (username: string) => UserRow | undefined | Promise<UserRow | undefined>) {
  const remembered = new Map<string, string>()
  const matches = async (header: string, password: string, stored: string): Promise<boolean> => {
    if (remembered.get(header) === stored) return true
    if (!await verify(stored, password)) return false
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(header, stored)
    return true
  }
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const header = request.headers.authorization ?? ''
    const text = Buffer.from(header.slice('Basic '.length), 'base64').toString()
    const colon = text.indexOf(':')
    const user = await findUser(text.slice(0, colon))
    reply.header('cache-control', 'no-store')
    if (user !== undefined && user.active && await matches(header, text.slice(colon + 1), user.password)) {
      request.setDecorator(kUserId, user.id)
      return
    }
    reply.code(401).header('www-authenticate', 'Basic realm="Login Required"')
    throw new Error('Authentication failed')
  }
}

/** A preHandler hook for a login of the host that names the user in a header. */
export async function headerAuth (request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const user = Number(request.headers['x-user'])
  reply.header('cache-control', 'no-store')
  if (Number.isSafeInteger(user)) request.setDecorator(kUserId, user)
  else refuse(reply, 401)
}

/** Makes room for the user in every request. */
export const userSymbol = kUserId
