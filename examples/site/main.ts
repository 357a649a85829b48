import { buildSite } from './app.js'
import { documentationPath } from './documentation.js'
import { serve, serverOptions } from './serve.js'
import { accounts, toLine } from './seed.js'

const { DATABASE_URL = 'sqlite:./site.db' } = process.env

const address = await serve(await buildSite(DATABASE_URL, serverOptions))
console.log(`
The example site is on ${address}

Accounts (password = name): ${toLine(accounts)}

Try it in a browser: ${address}${documentationPath}

Or here:
  curl '${address}/api/message/?user__username=alice&ordering=-pub_date&limit=3'
  curl -u alice:alice -d '{"content": "my first message"}' ${address}/api/message/
  curl -u admin:admin -X PUT -d '{"active": true}' ${address}/api/user/4/
`)
