import type { FastifyBaseLogger } from 'fastify'

const told = new WeakSet<object>()

/** Logs a warning about a thing, such as a policy, if none was logged about it before. */
export function warnOnce (log: FastifyBaseLogger, about: object, message: string): void {
  if (told.has(about)) return
  told.add(about)
  log.warn(message)
}
