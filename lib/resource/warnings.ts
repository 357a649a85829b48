import type { FastifyBaseLogger } from 'fastify'
import { isForeignKey, isInteger, isSecret, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { hidingResource } from '../policy/hiding-resource.js'
import { fixableBy } from '../policy/scope-fields.js'
import type { RelatedScope } from '../policy/visibility.js'
import type { Registration } from './registration.js'
import type { Resource } from './resource.js'

/**
 * Logs a warning for each of `columns`, which `unshownColumns()` found: the model declares them not nullable, but
 * rows of the table have values in them that no record can show, such as infinity. Answers have null in place of such a
 * value.
 */
export function warnOfUnshown (log: FastifyBaseLogger, { name }: Model, columns: readonly Column[]): void {
  for (const column of columns) {
    log.warn(isInteger(column)
      ? `The column of field '${column.field}' of model '${name}' holds values that no JSON number shows exactly, ` +
        'such as integers from 2^53 on. They are answered as null. bigint() shows them as texts; for a key or a ' +
        'foreign key, a view can'
      : `Field '${column.field}' of model '${name}' is not nullable, but its column holds values that no record can ` +
        'show, such as infinity, a zero date or a date before our era. They are answered as null: declare it nullable')
  }
}

/** Logs a warning for each foreign key of a resource, and each path in its `filterable`, that no client can use. */
export function warnOfUnusable (log: FastifyBaseLogger, resource: Resource): void {
  warnOfIneffective(log, resource)
  warnOfUnsettable(log, resource)
}

/**
 * Logs a warning for each path in the option `filterable` of a resource that no client can use, because the path leads
 * through a model that no client may list, or through too many foreign keys.
 */
function warnOfIneffective (
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
 * Logs a warning for each foreign key that no client can set, because the clients of this resource can see no record of
 * the model that it refers to. This happens if that model has a scope, and its policy has no open operation and does
 * not know the users of this resource ({@link RelatedScope.knowsUsers}). Skips foreign keys that the scope of this
 * resource sets.
 */
function warnOfUnsettable (log: FastifyBaseLogger, resource: Resource): void {
  const { name, creatable, protections, relatedScopes } = resource
  if (protections.create === 'closed' && protections.update === 'closed') return
  const isHidden = (scope: RelatedScope | undefined): boolean =>
    scope !== undefined && !scope.knowsUsers && scope.rule.policy.open.length === 0
  const hidden = [...creatable].filter(isForeignKey).filter(({ target }) => isHidden(relatedScopes.get(target())))
  if (hidden.length === 0) return
  const fixed = fixableBy(resource)
  for (const { field, target } of hidden.filter(({ key }) => !fixed.has(key))) {
    log.warn(`No client can set '${field}' of resource '${name}', because the policy of model '${target().name}' ` +
      "does not know the users of this resource. Give both the same policy, or one with the same 'login' and all its " +
      "'fields'. If no client is to set the field, name it in 'readOnly'")
  }
}

/**
 * Logs a warning for each password that a resource shows, and for each excluded field whose values clients can find out
 * through `filterable`. Logs another if {@link hidingResource} finds a later resource: clients may refer to records
 * that the scope of that resource hides from them.
 */
export function warnOfRegistration (
  log: FastifyBaseLogger, registration: Registration, all: readonly Registration[]
): void {
  warnOfExposure(log, registration, all)
  warnOfUnscopedFirst(log, registration, all)
}

/**
 * Logs a warning for each password that a resource shows. Logs another for each field whose values clients can find out
 * through the option `filterable` of the resource, although this resource or one of a related model excludes the field.
 */
function warnOfExposure (
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

function warnOfUnscopedFirst (
  log: FastifyBaseLogger, registration: Registration, all: readonly Registration[]
): void {
  const hiding = hidingResource(registration, all)
  if (hiding === undefined) return
  const { name, model } = registration
  log.warn(`Clients may refer to records of model '${model.name}' that the scope of resource '${hiding.name}' ` +
    `hides from them, because references follow the first resource, '${name}', which has no scope. ` +
    `Register '${hiding.name}' before it`)
}

/**
 * Returns a function that logs a warning when it is called for the first time: a document in Swagger 2.0 lacks the
 * filters, names and errors of the operations.
 */
export function swagger2Warning (log: FastifyBaseLogger): () => void {
  let isLogged = false
  return () => {
    if (isLogged) return
    isLogged = true
    log.warn('@fastify/swagger writes a document in Swagger 2.0, which has no filters, names or errors of the ' +
      "operations. Give it the option 'openapi', such as { openapi: { openapi: '3.1.0', info } }")
  }
}
