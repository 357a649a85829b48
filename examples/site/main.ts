import { buildSite } from './app.js'
import { documentationPath } from './documentation.js'
import { logging } from './logging.js'
import { accounts, toLine } from './seed.js'

const { PORT = '3000', HOST = '127.0.0.1', DATABASE_URL = 'sqlite:./site.db' } = process.env

const app = await buildSite(DATABASE_URL, {
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
The example site is on ${address}

Accounts (password = name): ${toLine(accounts)}

Try it in a browser: ${address}${documentationPath}

Or here:
  curl '${address}/api/message/?user__username=alice&ordering=-pub_date&limit=3'
  curl -u alice:alice -d '{"content": "my first message"}' ${address}/api/message/
  curl -u admin:admin -X PUT -d '{"active": true}' ${address}/api/user/4/
`)
