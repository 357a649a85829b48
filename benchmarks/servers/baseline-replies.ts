import type { FastifyReply } from 'fastify'

/** The present as it is stored. */
export function now (): string {
  return new Date().toISOString().slice(0, 19).replace('T', ' ')
}

const messages = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found' } as const

export function refuse (reply: FastifyReply, statusCode: keyof typeof messages): void {
  reply.code(statusCode).send({ statusCode, error: messages[statusCode], message: messages[statusCode] })
}
