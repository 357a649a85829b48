import { once } from 'node:events'
import { client } from '../support/site.js'
import { openSite } from '../support/workers.js'

/** How often each status was answered. */
export type Statuses = Readonly<Record<string, number>>

const [path = '', user = '', task = 'create', count = '100'] = process.argv.slice(2)

/** One of several processes that write to one file: all of them open it at the same moment. */
process.send?.('ready')
await once(process, 'message')
const { app } = await openSite(path)
process.send?.('open')
await once(process, 'message')
const { get, post, put } = client(app)
const statuses: Record<string, number> = {}

function record ({ statusCode }: { readonly statusCode: number }): void {
  statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
}

for (let number = 0; number < Number(count); number++) {
  if (task === 'create') {
    record(await post('/api/message/', { content: `${process.pid} ${number}` }, { as: user }))
    record(await get('/api/message/?ordering=-id&limit=1&user__username=alice'))
  } else {
    // Two records, in the one order or in the other.
    const ids = task === 'forwards' ? [2, 3] : [3, 2]
    for (const id of ids) record(await put(`/api/user/${id}/`, { email: `${process.pid} ${number}` }, { as: 'admin' }))
  }
}
process.send?.(statuses satisfies Statuses)
await app.close()
process.disconnect()
