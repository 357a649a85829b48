import type { FastifyBaseLogger } from 'fastify'
import type { Registration } from './registration.js'

/** Says in the log what a deployer may not have meant to show. */
export function warnOfExposure (log: FastifyBaseLogger, { name, model, excluded, opened }: Registration): void {
  const passwords = model.columns.filter((column) => column.kind === 'password' && !excluded.has(column))
  for (const { field } of passwords) {
    log.warn(`Resource '${name}' serializes the stored password '${field}'; add it to 'exclude' if that is not meant`)
  }
  for (const { field } of [...excluded].filter((column) => opened.has(column.field))) {
    log.warn(`Resource '${name}' excludes '${field}', but 'filterable' lets clients find out its values`)
  }
}
