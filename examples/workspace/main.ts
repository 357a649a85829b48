import { documentationPath } from '../site/documentation.js'
import { serve, serverOptions } from '../site/serve.js'
import { buildWorkspace } from './app.js'
import { accounts } from './seed.js'

const { DATABASE_URL = 'sqlite:./workspace.db' } = process.env

export const address = await serve(await buildWorkspace(DATABASE_URL, serverOptions))
console.log(`
The example workspace is on ${address}

Accounts (password = name): ${accounts}

Try it in a browser: ${address}${documentationPath}

Or here:
  curl -u art:art '${address}/api/task/?done=false&assignee__username=art&limit=3'
  curl -u gil:gil ${address}/api/project/
  curl -u ann:ann -d '{"name": "Aurora", "budget": "1000.00"}' ${address}/api/project/
`)
