import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import { errors, messageOf } from '../../errors.js'
import { suggestion } from '../../suggest.js'
import { importModule } from './import-module.js'

type Builder = (app: FastifyInstance, options: object, done?: (error?: Error) => void) => unknown

/**
 * Returns the app of a module. The module exports an app, a promise of an app, a function that returns an app, or a
 * plugin as fastify-cli runs it: a function that receives an app and adds to it.
 *
 * @param name  name of the export; `default` or `app` if absent
 * @throws REST_MODELS_INVALID_OPTIONS if there is no such file or export
 */
export async function loadApp (path: string, name?: string): Promise<FastifyInstance> {
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw new errors.InvalidOptions('check takes a JavaScript file that exports an app, not the URL of a database; ' +
      'use introspect or serve for a database')
  }
  const file = resolve(path)
  if (!existsSync(file)) throw new errors.InvalidOptions(`There is no file '${path}'`)
  const module = await load(path, file)
  const wanted = name ?? ['default', 'app'].find((known) => known in module)
  const exported = await (wanted === undefined ? undefined : module[wanted])
  if (isApp(exported)) return exported
  if (isBuilder(exported)) return await build(exported)
  const where = wanted === undefined
    ? "has no export 'default' or 'app'"
    : `has no app or function under '${wanted}'${suggestion(name, Object.keys(module))}`
  throw new errors.InvalidOptions(`The module '${path}' ${where}; name the export with --export`)
}

async function load (path: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const module = await importModule<Record<string, unknown>>(pathToFileURL(file).href)
    const { default: whole } = module
    return isCompiled(whole) ? whole : module
  } catch (cause) {
    const hint = /\.[cm]?ts$/.test(file)
      ? '; for TypeScript, compile it first, ' +
        'or run: node --import tsx node_modules/fastify-rest-models/dist/lib/tooling/cli/main.js check …'
      : ''
    throw new Error(`The module '${path}' cannot be imported: ${messageOf(cause)}${hint}`)
  }
}

/** True if a default export is a whole module: `import()` gives a module that was compiled to CommonJS in that form. */
function isCompiled (whole: unknown): whole is Readonly<Record<string, unknown>> {
  return typeof whole === 'object' && whole !== null && '__esModule' in whole
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
