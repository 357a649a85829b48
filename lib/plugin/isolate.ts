import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { noStore } from '../policy/visibility.js'
import { keepBytes } from '../request/payload.js'
import { isFailure, passOn, serializeFailure } from '../response/failure.js'
import { serializerCompiler, type SerializerOf } from '../response/serializer.js'
import { acceptAnything } from '../routes/handlers.js'
import type { Scheduler } from './scheduling/scheduler.js'

/**
 * Replaces the body parser, the serializer and the error handler of a Fastify scope, and adds onRequest hooks to it. So
 * these apply to the plugin's own routes, and not to those of the application.
 *
 * @returns a function that gives the serializer of an answer's schema
 */
export function isolate (scope: FastifyInstance, { onRequest }: Scheduler): SerializerOf {
  scope.removeAllContentTypeParsers()
  // JSON is named beside `*`, because Fastify then finds the parser of JSON without reading the header again.
  scope.addContentTypeParser(['application/json', '*'], { parseAs: 'buffer' }, keepBytes)
  scope.setValidatorCompiler(() => acceptAnything)
  const serializerOf = serializerCompiler()
  scope.setSerializerCompiler(({ schema, httpStatus }) =>
    isFailure(httpStatus) ? serializeFailure : serializerOf(schema as object))
  // The handler is async, so that it rejects. If it threw a value that is no Error, Fastify would send that value as
  // the answer.
  scope.setErrorHandler(async (error, request) => passOn(error, request))
  // Only a server of HTTP/2 has this method, also one of the host's `serverFactory`.
  if ('updateSettings' in scope.server) scope.addHook('onRequest', expectBody)
  scope.addHook('onRequest', noStore)
  scope.addHook('onRequest', onRequest)
  return serializerOf
}

/**
 * Gives a request over HTTP/2 the content type `application/json` if it has none. Without a content type, Fastify reads
 * no body if the request has neither `content-length` nor `transfer-encoding`, and HTTP/2 requires neither.
 */
const expectBody: onRequestHookHandler = ({ raw: { headers } }, _reply, done) => {
  headers['content-type'] ??= 'application/json'
  done()
}
