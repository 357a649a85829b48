import { createRequire } from 'node:module'
import { errors } from '../errors.js'

const require = createRequire(import.meta.url)

/**
 * Returns the package of a driver. It is loaded when a database is opened, not by an `import`, so that the error for a
 * missing package says how to install it.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE if the package is not installed
 */
export function loadDriver<Driver> (name: string, load: (name: string) => Driver = require): Driver {
  try {
    return load(name)
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw new errors.UnsupportedDatabase(`The package '${name}' is not installed; install it: npm install ${name}`)
  }
}

/** True if an error of an import says that the package `name` is not installed. */
export function isMissing (error: unknown, name: string): boolean {
  return error instanceof Error && 'code' in error &&
    ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(String(error.code)) && error.message.includes(`'${name}'`)
}
