import type { FastifyBaseLogger } from 'fastify'
import { isSecret, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Registration } from './registration.js'
import type { Resource } from './resource.js'

/** Logs a warning for each column with values that are answered as null although the model says it is not nullable. */
export function warnOfUnshown (log: FastifyBaseLogger, { name }: Model, columns: readonly Column[]): void {
  for (const { field } of columns) {
    log.warn(`Field '${field}' of model '${name}' is not nullable, but its column holds values that no record can ` +
      'show, such as infinity, a zero date or a date before our era. They are answered as null: declare it nullable')
  }
}

/**
 * Logs a warning for each path in the option `filterable` of a resource that no client can use, because the path leads
 * through a model that no client may list, or through too many foreign keys.
 */
export function warnOfIneffective (
  log: FastifyBaseLogger, { name, opened, closedModels, limits }: Resource
): void {
  for (const [path, { joins }] of opened) {
    const closed = joins.map(({ target }) => target()).find((model) => closedModels.has(model))
    const reason = closed === undefined
      ? joins.length > limits.joins && `it follows more than the ${limits.joins} foreign keys of 'limits.joins'`
      : `clients of this resource may not list model '${closed.name}'. Give both resources the same policy, ` +
        `or open the reads of '${closed.name}'`
    if (reason !== false) log.warn(`'${path}' in 'filterable' of resource '${name}' has no effect, because ${reason}`)
  }
}

/**
 * Logs a warning for each password that a resource shows. Logs another for each excluded field whose values clients can
 * find out through the option `filterable` of the resource, even if a resource of a related model excludes the field.
 */
export function warnOfExposure (
  log: FastifyBaseLogger, { name, model, excluded, opened }: Registration, all: readonly Registration[]
): void {
  const passwords = model.columns.filter((column) => isSecret(column) && !excluded.has(column))
  for (const { field } of passwords) {
    log.warn(`Resource '${name}' serializes the stored password '${field}'; add it to 'exclude' if that is not meant`)
  }
  for (const { field } of [...excluded].filter((column) => opened.has(column.field))) {
    log.warn(`Resource '${name}' excludes '${field}', but 'filterable' lets clients find out its values`)
  }
  for (const [written, { joins, column }] of opened) {
    const hiding = all.find((other) => joins.at(-1)?.target() === other.model && other.excluded.has(column))
    if (hiding !== undefined) {
      log.warn(`Resource '${hiding.name}' excludes '${column.field}', but '${written}' in 'filterable' ` +
        `of resource '${name}' lets clients find out its values`)
    }
  }
}

/** Returns a function that warns of a document in Swagger 2.0 when it is called for the first time. */
export function swagger2Warning (log: FastifyBaseLogger): () => void {
  let isLogged = false
  return () => {
    if (isLogged) return
    isLogged = true
    log.warn('@fastify/swagger writes a document in Swagger 2.0, which has no filters, names or errors of the ' +
      "operations. Give it the option 'openapi', such as { openapi: { openapi: '3.1.0', info } }")
  }
}
