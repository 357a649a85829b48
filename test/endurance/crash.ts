import { killRounds, type KillReport } from '../reliability/kill-rounds.js'
import { readNumbers } from './numbers.js'
import { inFolder } from './undo.js'

/**
 * npm run crash [-- --rounds=100 --seed=1]: kills the example app under write load, and counts what is missing
 * afterwards.
 */

const { rounds, seed } = readNumbers({ rounds: 100, seed: 1 })

process.exitCode = await inFolder(async (folder, t) => {
  let last: KillReport | undefined
  for await (last of killRounds(t, { folder, rounds, seed })) {
    if (last.rounds % 10 === 0 || last.rounds === rounds) console.log(toLine(last))
  }
  const faults = [...last?.lost ?? [], ...last?.halfDone ?? [], ...last?.damages ?? []]
  for (const fault of faults) console.log(fault)
  return faults.length === 0 ? 0 : 1
})

function toLine ({ rounds, acknowledged, lost, halfDone, damages }: KillReport): string {
  return `rounds killed ${rounds}, writes acknowledged ${acknowledged}, lost ${lost.length}, ` +
    `half done ${halfDone.length}, damaged ${damages.length} (seed ${seed})`
}
