import { readNumbers } from './numbers.js'
import { beyond, soak, toLine } from './soaking.js'
import { inFolder } from './undo.js'

/**
 * npm run soak [-- --minutes=10 --p99=500]: mixed traffic to the example app, whose memory, files and latency must stay
 * as they are.
 */

const { minutes, p99 } = readNumbers({ minutes: 10, p99: 500 })

process.exitCode = await inFolder(async (folder, t) => {
  const report = await soak(t, { folder, seconds: minutes * 60 })
  console.log(toLine(report))
  const faults = beyond(report, { answered: 0.9, p99, growth: 1.2 })
  for (const fault of faults) console.log(`beyond its bound: ${fault}`)
  return faults.length === 0 ? 0 : 1
})
