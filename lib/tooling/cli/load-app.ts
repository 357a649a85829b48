import Fastify, { type FastifyInstance } from 'fastify'
import { errors } from '../../errors.js'
import { suggestion } from '../../suggest.js'
import { loadModule } from './load-module.js'

type Builder = (app: FastifyInstance, options: object, done?: (error?: Error) => void) => unknown

/**
 * Returns the app of a module. The module exports an app, a promise of an app, a function that returns an app, or a
 * plugin as fastify-cli runs it: a function that receives an app and adds to it.
 *
 * @param name  name of the export; `default` or `app` if absent
 * @throws REST_MODELS_INVALID_OPTIONS if the export is missing, or is neither an app nor a function; the errors of
 *   {@link loadModule}, and those of the exported function or promise
 */
export async function loadApp (path: string, name?: string): Promise<FastifyInstance> {
  const module = await loadModule(path, {
    command: 'check', exporting: 'an app', remedy: 'use introspect or serve for a database'
  })
  const wanted = name ?? ['default', 'app'].find((known) => known in module)
  const exported = await (wanted === undefined ? undefined : module[wanted])
  if (isApp(exported)) return exported
  if (isBuilder(exported)) return await build(exported)
  const where = wanted === undefined
    ? "has no export 'default' or 'app': end it with 'export default app', and call listen() in another file"
    : `has no app or function under '${wanted}'${suggestion(name, Object.keys(module))}`
  throw new errors.InvalidOptions(`The module '${path}' ${where}; --export takes another name`)
}

async function build (exported: Builder): Promise<FastifyInstance> {
  const given = Fastify()
  // A plugin that takes a third argument calls it when it is done, instead of returning a promise.
  const made = exported.length < 3 ? await exported(given, {}) : await callBack((done) => exported(given, {}, done))
  return isApp(made) ? made : given
}

async function callBack (act: (done: (error?: Error) => void) => unknown): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const promise = act((error) => { error === undefined || error === null ? resolve() : reject(error) })
    if (promise instanceof Promise) {
      reject(new Error('A plugin with three parameters must call the third one when it is done, ' +
        'and must not return a promise. An async plugin has two parameters'))
    }
  })
}

function isBuilder (value: unknown): value is Builder {
  return typeof value === 'function'
}

function isApp (value: unknown): value is FastifyInstance {
  return typeof value === 'object' && value !== null && 'inject' in value && 'ready' in value && 'close' in value
}
