import { readNumbers } from './numbers.js'
import { overload, type OverloadReport, type Probed } from './overloading.js'
import { inFolder } from './undo.js'

/**
 * npm run overload [-- --seconds=20 --connections=1000 --slow=200]: a crowd on an app without and with
 * @fastify/under-pressure.
 */

const { seconds, connections, slow, messages } = readNumbers({
  seconds: 20, connections: 1000, slow: 200, messages: 3000
})

await inFolder(async (folder, t) => {
  let capacity: number | undefined
  for (const sheds of [false, true]) {
    const report = await overload(t, { folder, seconds, visits: 1, connections, slowSenders: slow, messages, sheds })
    console.log(`${sheds ? 'with' : 'without'} @fastify/under-pressure, ${connections} connections and ${slow} slow ` +
      `senders: ${toLine(report, capacity ??= report.capacity)}`)
  }
})

function toLine ({ offered, crowd, crowdP99, loop, health, others, after }: OverloadReport, capacity: number): string {
  return [
    `capacity ${Math.round(capacity)}/s, offered ${Math.round(offered)}/s (${(offered / capacity).toFixed(1)} times)`,
    `crowd ${statusesOf(crowd)}, p99 ${Math.round(crowdP99)} ms`,
    `event loop delay p99 ${Math.round(loop.p99)} ms, at most ${Math.round(loop.max)} ms`,
    `health ${inWords(health)}`, `writes of others ${inWords(others)}`, `afterwards ${inWords(after)}`
  ].join('; ')
}

function inWords ({ statuses, p99 }: Probed): string {
  return `${statusesOf(statuses)}, p99 ${Math.round(p99)} ms`
}

function statusesOf (statuses: Readonly<Record<string, number>>): string {
  return Object.entries(statuses).filter(([, count]) => count > 0).map(([status, count]) => `${count} x ${status}`)
    .join(' ')
}
