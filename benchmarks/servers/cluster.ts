import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { readArguments, type Question, type Usage } from './serve.js'

// Starts our server in several processes, as docs/scaling.md shows. Its usage is that of all processes together.
const { processes } = readArguments()
cluster.setupPrimary({ exec: fileURLToPath(new URL('ours.js', import.meta.url)) })
const workers = Array.from({ length: processes }, () => cluster.fork())
const [greeting] = await Promise.all(workers.map(nextMessage))
process.on('message', async (question: Question) => {
  const usages = await Promise.all(workers.map(async (worker) => {
    worker.send(question)
    return await nextMessage(worker) as Usage
  }))
  const { user, system } = process.cpuUsage()
  process.send?.(usages.reduce<Usage>((sum, { rss, cpu }) => ({ rss: sum.rss + rss, cpu: sum.cpu + cpu }), { rss: process.memoryUsage.rss(), cpu: user + system }))
})
process.once('disconnect', () => { process.exit() })
process.send?.(greeting as object)

async function nextMessage (worker: Worker): Promise<unknown> {
  const [message] = await once(worker, 'message') as [unknown]
  return message
}
