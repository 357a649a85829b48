import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../support/engines/free-port.js'
import { startServer } from '../support/process.js'
import { folder, read, readImage } from './files.js'

export const image = readImage()

/** Makes the working directory of the image, inside the project, where its packages are found. */
export function build (t: Test): string {
  const cwd = mkdtempSync(join(resolve('dist'), 'image-'))
  t.teardown(() => { rmSync(cwd, { recursive: true }) })
  for (const file of image.files) copyFileSync(join(folder, file), join(cwd, file))
  mkdirSync(join(cwd, 'node_modules'))
  symlinkSync(resolve('.'), join(cwd, 'node_modules', 'fastify-rest-models'))
  return cwd
}

/** Starts what CMD says, with the variables of the image. */
export async function start (t: Test, env: Readonly<Record<string, string>> = {}) {
  const cwd = build(t)
  const port = String(await freePort())
  const variables = { ...image.env, DATABASE_URL: join(cwd, 'site.db'), PORT: port, ...env }
  const [program, script = '', ...args] = image.command
  t.equal(program, 'node')
  return { ...await startServer(t, script, { cwd, args, env: variables }), variables }
}

/**
 * Seconds that the program needs to end at most: for its connections, and for the database, whose busy connections have
 * until their statement's deadline: five seconds, one more for the driver, and two for a server that does not answer.
 */
export const secondsToEnd = Number(/maxDrainMs = ([\d_]+)/.exec(read('site.mjs'))?.[1]?.replaceAll('_', '')) / 1000 + 8
