import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errors, messageOf } from '../../errors.js'
import { importModule } from './import-module.js'

type Module = Readonly<Record<string, unknown>>

/** The command that loads a module, and in words what the module must export, for messages. */
interface Loader {
  readonly command: string
  readonly exporting: string
  /** Remedy if the path is the URL of a database. */
  readonly remedy: string
}

/**
 * Imports a file that a command takes, and returns what it exports.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if there is no such file, or if `path` is a URL; an error with the reason if the
 *   file cannot be imported
 */
export async function loadModule (path: string, { command, exporting, remedy }: Loader): Promise<Module> {
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw new errors.InvalidOptions(`${command} takes a JavaScript file that exports ${exporting}, not the URL of a ` +
      `database; ${remedy}`)
  }
  const file = resolve(path)
  if (!existsSync(file)) throw new errors.InvalidOptions(`There is no file '${path}'`)
  try {
    const module = await importModule<Module>(pathToFileURL(file).href)
    const { default: whole } = module
    return isCompiled(whole) ? whole : module
  } catch (cause) {
    const hint = /\.[cm]?ts$/.test(file)
      ? '; for TypeScript, compile it first, or run: ' +
        `node --import tsx node_modules/fastify-rest-models/dist/lib/tooling/cli/main.js ${command} …`
      : ''
    throw new Error(`The module '${path}' cannot be imported: ${messageOf(cause)}${hint}`)
  }
}

/** True if a default export is a whole module: `import()` gives a module that was compiled to CommonJS in that form. */
function isCompiled (whole: unknown): whole is Module {
  return typeof whole === 'object' && whole !== null && '__esModule' in whole
}
