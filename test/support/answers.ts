import { STATUS_CODES } from 'node:http'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** What of an OpenAPI document says how a request may be answered. */
export interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, {
    readonly responses: Readonly<Record<string, Response>>
  }>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>, readonly responses: Readonly<Record<string, Response>>
  }
}

interface Response {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, { readonly schema: object }>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The app's own document, for the check of its answers. */
    documented (): Documented
    /** Why answers are not compared with the document; they are if absent. */
    undocumented?: string
  }
}

/** To compile a schema costs more than all that is asked of it; whether it is one is tested with the documents. */
const ajv = new Ajv2020({
  strict: false, validateFormats: true, validateSchema: false, code: { optimize: false }, ownProperties: true
})
ajvFormats.default(ajv)
/**
 * By the text of the schema, since the apps of a test file are much the same; and by the schema itself, of which
 * writing the text costs more than the check.
 */
const validators = new Map<string, ValidateFunction>()
const known = new WeakMap<object, ValidateFunction>()

/**
 * Lets a test fail for every answer of the plugin that the app's own OpenAPI document does not declare: its status, its
 * content type, its body and the headers that are said to be there. To be called before the plugin is registered.
 *
 * @param name  apps of one name have one document, which is made once
 */
export function checkAnswers (
  t: { fail (message: string): unknown }, app: FastifyInstance, name?: string
): PromiseLike<unknown> {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isReceived = request.raw.errored === null && !request.raw.socket.destroyed // else the client has broken off
    if (isReceived && app.undocumented === undefined && 'swaggerTransform' in request.routeOptions.config) {
      const fault = faultOf(documentOf(app, name), request, reply, payload)
      if (fault !== undefined) t.fail(`${request.method} ${request.url} is not answered as documented: ${fault}`)
    }
    done(null, payload)
  })
  app.addHook('onRoute', (route) => {
    const { swaggerTransform: transform } = route.config ?? {}
    if (typeof transform === 'function') {
      route.config = { ...route.config, swaggerTransform: withoutParameters(transform) }
    }
  })
  return app.register(swagger, { decorator: 'documented', openapi: { openapi: '3.1.0', info } })
}

const info = { title: 'Answers', version: '1' }
type Transform = NonNullable<FastifyDynamicSwaggerOptions['transform']>

/**
 * To write the many parameters of lists takes most of the time that a document takes, and they say nothing of answers.
 * Other documents have them.
 */
function withoutParameters (transform: Transform): Transform {
  return (asked) => {
    const { schema, url } = transform(asked)
    const isOwn = 'openapiObject' in asked && asked.openapiObject.info?.title === info.title
    return { schema: isOwn ? { ...schema, querystring: undefined } : schema, url }
  }
}

const documents = new Map<string, Documented>()

function documentOf (app: FastifyInstance, name: string | undefined): Documented {
  const document = (name === undefined ? undefined : documents.get(name)) ?? app.documented()
  if (name !== undefined) documents.set(name, document)
  return document
}

/** What the document does not say of an answer; undefined if it says all. */
export function faultOf (document: Documented, request: FastifyRequest, reply: FastifyReply, payload: unknown): string |
  undefined {
  const status = reply.statusCode
  const { [status]: known, default: other } = responsesOf(document, request)
  const { $ref, ...written } = known ?? (status < 400 ? undefined : other) ?? { missing: true }
  if ('missing' in written) return `there is no ${status} ${STATUS_CODES[status]}`
  const { content = {}, headers = {} } = $ref === undefined ? written as Response : partOf(document, $ref) as Response
  const missing = Object.entries(headers).filter(([name]) => name !== 'ETag' || !isIncluding(request))
    .find(([name, { schema }]) => faultIn(document, schema, plainHeader(reply.getHeader(name))) !== undefined)
  if (missing !== undefined) return `the header ${missing[0]} is absent or wrong`
  const [type = ''] = String(reply.getHeader('content-type') ?? '').split(';')
  if (request.method === 'HEAD') return undefined
  if (type === '' || payload === undefined || payload === '') {
    return Object.keys(content).length === 0 ? undefined : 'there is no body'
  }
  const { [type]: media } = content
  if (media === undefined) return `the content type is ${type}`
  return faultIn(document, media.schema, type === 'application/json' ? JSON.parse(String(payload)) : String(payload))
}

/** An answer with related records has no tag. */
function isIncluding ({ query }: FastifyRequest): boolean {
  return Boolean(Object(query).include)
}

/** Numbers travel as text in a header. */
function plainHeader (value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

/**
 * Of HEAD those of GET; of a method that the path does not have or that nobody may use, and so the document neither,
 * what refuses a write, and 405.
 */
function responsesOf (
  { paths, components }: Documented, { method, routeOptions }: FastifyRequest
): Readonly<Record<string, Response>> {
  const path = String(routeOptions.url).replace(/\/?$/, '/').replace(':id', '{id}')
  const methods = paths[path] ?? {}
  const known = methods[method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (known !== undefined) return known.responses
  const { responses = closedResponses(components) } = methods['post'] ?? methods['put'] ?? {}
  const refusals = Object.fromEntries(Object.entries(responses)
    .filter(([status]) => !['2', '404', '409', 'default'].some((start) => status.startsWith(start))))
  return {
    ...refusals,
    405: {
      content: {
        'application/json': { schema: { ...components.schemas['Error'], required: ['code', 'error', 'message'] } }
      }
    }
  }
}

/** Returns the responses of an operation that nobody may do, which the document leaves out. */
function closedResponses ({ schemas }: Documented['components']): Readonly<Record<string, Response>> {
  const failure = { content: { 'application/json': { schema: { ...schemas['Error'], required: ['code', 'error'] } } } }
  return {
    401: {
      headers: { 'WWW-Authenticate': { schema: { enum: ['Basic realm="Login Required"'] } } },
      content: { 'text/html': { schema: { type: 'string' } } }
    },
    ...Object.fromEntries([400, 403, 413, 414, 415, 500].map((status) => [status, failure]))
  }
}

function faultIn (document: Documented, schema: object, value: unknown): string | undefined {
  const validate = known.get(schema) ?? compileIn(document, schema)
  known.set(schema, validate)
  return validate(value)
    ? undefined
    : `${ajv.errorsText(validate.errors, { dataVar: 'the body' })} in ${String(JSON.stringify(value)).slice(0, 300)}`
}

function compileIn (document: Documented, schema: object): ValidateFunction {
  const text = JSON.stringify({ ...schema, components: { schemas: schemasBehind(document, schema) } })
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, validate)
  return validate
}

/** The schemas of the document that a schema refers to, directly or through others. */
function schemasBehind ({ components: { schemas } }: Documented, schema: object): Readonly<Record<string, object>> {
  const found: Record<string, object> = {}
  const follow = (text: string): void => {
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const { [name]: part } = schemas
      if (part === undefined) throw new Error(`${name} leads nowhere`)
      if (Object.hasOwn(found, name)) continue
      found[name] = part
      follow(JSON.stringify(part))
    }
  }
  follow(JSON.stringify(schema))
  return found
}

function partOf (document: Documented, reference: string): object {
  const part = reference.split('/').slice(1)
    .reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], document)
  if (typeof part !== 'object' || part === null) throw new Error(`${reference} leads nowhere`)
  return part
}
