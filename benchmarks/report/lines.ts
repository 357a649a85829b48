import type { EngineName } from '../engines/engine.js'
import type { Targets } from '../cases.js'
import type { RatioResult } from '../runners/ratio.js'
import type { Outcome } from '../runners/run-case.js'
import type { Spread } from '../statistics.js'

/** Line of the tables: a measurement in words, and whether it reaches its target. */
export interface Line {
  readonly name: string
  readonly what: string
  /** Cells of the table of ratios; absent in the table of other figures. */
  readonly cells?: readonly string[]
  readonly figure: string
  readonly target: string
  /** Undefined if there is no target, or no figure. */
  readonly isReached: boolean | undefined
  /** Reason why the figure is not better, as far as it is known. */
  readonly bound: string | undefined
  /** Microseconds of a request in the functions that take most, on each side. */
  readonly profiles?: ReadonlyArray<readonly string[]>
}

/** Returns the lines of an outcome. */
export function linesOf (outcome: Outcome, engine: EngineName): readonly Line[] {
  const { row: { name, what, bound } } = outcome
  const common = { name, what, bound }
  if ('problem' in outcome) return [{ ...common, figure: outcome.problem, target: '', isReached: false }]
  if ('ratios' in outcome) {
    const { row, ratios } = outcome
    return ratios.map((result, index) => ({ ...common, ...(index > 0 && { what: '' }), ...ratioLine(result, row.target?.[engine]) }))
  }
  if ('processes' in outcome) return [{ ...common, ...processesLine(outcome) }]
  return 'memory' in outcome ? memoryLines(outcome).map((line) => ({ ...common, ...line })) : startUpLines(outcome).map((line) => ({ ...common, ...line }))
}

const shownAs = { ours: 'ours', other: 'ours, other commit', baseline: 'by hand', kysely: 'by hand, Kysely' } as const

type Measured = Pick<Line, 'figure' | 'target' | 'isReached'> & Partial<Line>

function ratioLine ({ connections, ratio, sides, profiles }: RatioResult, targets: Targets = {}): Measured {
  const { [connections]: target } = targets
  const pair = (show: (side: typeof sides[0]) => number, digits = 0): string =>
    sides.map((side) => show(side).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })).join(' / ')
  return {
    cells: [String(connections), shownAs[sides[1].server], pair(({ perSecond }) => perSecond), pair(({ p50 }) => p50, 2), pair(({ p99 }) => p99, 2), pair(({ cpu }) => cpu, 1), pair(({ busy }) => busy * 100), pair(({ rss }) => rss / 2 ** 20)],
    figure: showSpread(ratio, 2),
    profiles: (profiles ?? []).map((shares, index) => shares.map(({ name, share }) => `${(share * (sides[index]?.cpu ?? NaN)).toFixed(1)} ${name}`)),
    target: target?.toFixed(2) ?? '',
    isReached: target === undefined ? undefined : ratio.median >= target
  }
}

function startUpLines ({ row, startUp: { times, slopes } }: Extract<Outcome, { startUp: unknown }>): readonly Measured[] {
  const isLast = (index: number): boolean => index === times.length - 1
  const steepness = (slopes.at(-1) ?? NaN) / (slopes[0] ?? NaN)
  return [
    ...times.map(({ models, milliseconds }, index) => ({
      what: `${row.what}, ${models} models`,
      figure: `${showSpread(milliseconds, 0)} ms`,
      target: isLast(index) ? `at most ${row.most} ms` : '',
      isReached: isLast(index) ? milliseconds.median <= row.most : undefined
    })),
    {
      what: `milliseconds for one more model, ${times.slice(1).map(({ models }, index) => `${times[index]?.models} to ${models}`).join(', ')}`,
      figure: slopes.map((slope) => slope.toFixed(1)).join(', '),
      target: `the last at most ${row.steepest} times the first`,
      isReached: steepness <= row.steepest
    }
  ]
}

function memoryLines ({ row, memory: { requests, servers } }: Extract<Outcome, { memory: unknown }>): readonly Measured[] {
  const mib = (bytes: number): string => String(Math.round(bytes / 2 ** 20))
  return servers.map(({ server, start, tenth, all }) => ({
    what: `${row.what}: MiB at the start, after ${(requests / 10).toLocaleString('en')} and after ${requests.toLocaleString('en')} requests, ${server === 'ours' ? 'ours' : 'by hand'}`,
    figure: `${mib(start)}, ${mib(tenth)}, ${mib(all)} (× ${(all / tenth).toFixed(2)})`,
    target: server === 'ours' ? `at most × ${row.most.toFixed(2)}` : '',
    isReached: server === 'ours' ? all / tenth <= row.most : undefined
  }))
}

function processesLine ({ row, processes: { connections, wall, capacity, isServerBound, unpinned, pinned } }: Extract<Outcome, { processes: unknown }>): Measured {
  const pair = (sides: typeof pinned, name: keyof typeof pinned[0], digits: number): string =>
    sides.map((side) => side[name].toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })).join(' / ')
  const judged = isServerBound ? wall : capacity
  const byTime = `**× ${showSpread(capacity, 2)}** by processor time (${pair(pinned, 'cpu', 1)} µs/request), both sides on one core, of which they used ${pair(pinned, 'servers', 2)}. ` +
    `With nothing pinned × ${showSpread(wall, 2)} by wall time, because the other programs share the cores`
  return {
    what: `${row.what}, ${connections} connections`,
    figure: `${isServerBound ? `**× ${showSpread(wall, 2)}** by wall time, nothing pinned` : byTime}: ${pair(unpinned, 'perSecond', 0)} requests/s. ` +
      `Cores used: servers ${pair(unpinned, 'servers', 2)}, load generator ${pair(unpinned, 'load', 2)}, database and others ${pair(unpinned, 'others', 2)}`,
    target: `at least × ${row.least.toFixed(2)}`,
    isReached: judged.median >= row.least
  }
}

function showSpread ({ median, lowest, highest }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${lowest.toFixed(digits)}–${highest.toFixed(digits)})`
}
