import { documentationPath } from '../site/documentation.js'
import { logging } from '../site/logging.js'
import { buildWorkspace } from './app.js'
import { accounts } from './seed.js'

const { PORT = '3000', HOST = '127.0.0.1', DATABASE_URL = 'sqlite:./workspace.db' } = process.env

const app = await buildWorkspace(DATABASE_URL, {
  ...logging,
  // Requests on open connections are also served while the app closes.
  return503OnClosing: false,
  // Without a proxy in front, the server itself must give up on slow senders.
  requestTimeout: 30_000,
  connectionTimeout: 60_000
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    app.log.info(`${signal}: finishing running requests`)
    await app.close()
  })
}

const address = await app.listen({ port: Number(PORT), host: HOST })
console.log(`
The example workspace is on ${address}

Accounts (password = name): ${accounts}

Try it in a browser: ${address}${documentationPath}

Or here:
  curl -u art:art '${address}/api/task/?done=false&assignee__username=art&limit=3'
  curl -u gil:gil ${address}/api/project/
  curl -u ann:ann -d '{"name": "Aurora", "budget": "1000.00"}' ${address}/api/project/
`)
