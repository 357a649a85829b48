import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { fuzzedEngines } from './database.js'
import { fuzz } from './run.js'

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { requests: text, seed: text, engine: text } })

const engine = fuzzedEngines.find((name) => name === (values.engine ?? 'sqlite'))
if (engine === undefined) throw new Error(`--engine takes one of ${fuzzedEngines.join(', ')}`)
const requests = wholeNumber('requests', values.requests ?? '100000')
const seed = wholeNumber('seed', values.seed ?? String(randomInt(1, 2 ** 31 - 1)))

console.log(`${engine}: ${requests} requests with seed ${seed}`)
const { statuses, ...figures } = await fuzz({
  engine, requests, seed, progress: (sent) => { if (process.stderr.isTTY) process.stderr.write(`\r${sent} `) }
})
console.log(`${figures.requests} requests, ${figures.connections} connections and ${figures.batches} batches in ` +
  `${figures.seconds.toFixed(0)} s, no fault`)
console.log(`answers by status: ${Object.entries(statuses).map(([status, count]) => `${status}: ${count}`).join(', ')}`)

function wholeNumber (name: string, text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new Error(`--${name} takes a whole number of at least 1`)
}
