import { fuzzedEngines } from '../fuzz/database.js'
import { readNumbers } from './numbers.js'
import { measureShapes, toLine } from './shapes-by-weight.js'
import { inFolder } from './undo.js'

/**
 * npm run shapes [-- --shapes=5000]: lists of ever new shapes, each asked for once and then each twice, on each engine.
 */

const { shapes } = readNumbers({ shapes: 5000 })
/** MiB. */
const most = 50

process.exitCode = await inFolder(async (folder, t) => {
  let worst = 0
  for (const engine of fuzzedEngines) {
    for (const times of [1, 2]) {
      const report = await measureShapes(t, { engine, folder, shapes, times })
      console.log(`${engine}, ${shapes} shapes, ${times} times each: ${toLine(report)}`)
      worst = Math.max(worst, report.process, report.server)
    }
  }
  return worst < most ? 0 : 1
})
