import { bundleScript } from '../support/bundle-script.js'
import { startServer } from '../support/process.js'
import { startWorker } from '../support/workers.js'

/**
 * Asks an app whose answers are wrong, in a process of the kind that is named, and does not mind what comes, as the
 * client of a test might not.
 */
const t = { teardown: () => {} }
const starters: Readonly<Record<string, () => Promise<string>>> = {
  server: async () =>
    (await startServer(t, bundleScript('test/project/wrong.ts'), { cwd: process.cwd() })).address,
  worker: async () => await startWorker<string>(t, 'project/wrong.ts').next()
}
const [kind = ''] = process.argv.slice(2)
const address = await starters[kind]?.()
await fetch(`${address}/api/note/`).catch(() => {})
