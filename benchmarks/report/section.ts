import type { Extent } from '../arguments.js'
import type { Line } from './lines.js'

/** Circumstances of a run. */
export interface Circumstances {
  readonly title: string
  /** Machine, versions, commit, engine, cores, warnings. */
  readonly notes: readonly string[]
  readonly extent: Extent
}

/** Returns the figures of one run as a section of results.md. */
export function toSection ({ title, notes, extent }: Circumstances, lines: readonly Line[]): string {
  const ratios = lines.filter(({ cells }) => cells !== undefined)
  const others = lines.filter(({ cells }) => cells === undefined)
  return [
    `## ${title}`,
    '',
    ...[...notes, describe(extent)].map((note) => `- ${note}`),
    '',
    ...table(['case', '', 'connections', 'against', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'busy %', 'memory MiB', 'ratio', 'target', 'reached'],
      ratios.map(({ name, what, cells = [], figure, ...line }) => [`\`${name}\``, what, ...cells, `**${figure}**`, line.target, reached(line)])),
    ...table(['case', '', 'measured', 'target', 'reached'],
      others.map(({ name, what, figure, ...line }) => [`\`${name}\``, what, figure, line.target, reached(line)])),
    ...boundsOf(lines)
  ].join('\n')
}

/** Returns the profiles of the cases that miss their targets: both sides beside each other. */
export function toProfiles (lines: readonly Line[]): string {
  return lines.flatMap(profileOf).join('\n')
}

function describe ({ rounds, seconds, connections, rows }: Extent): string {
  return `${rounds} rounds of ${seconds} s for each server, in turns; ${connections.join(', ')} connections over the loopback; ${rows.toLocaleString('en')} messages of 77 characters of 1,000 users`
}

function reached ({ isReached }: Pick<Line, 'isReached'>): string {
  return isReached === undefined ? '' : isReached ? 'yes' : '**no**'
}

function table (head: readonly string[], rows: ReadonlyArray<readonly string[]>): readonly string[] {
  if (rows.length === 0) return []
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line), '']
}

function boundsOf (lines: readonly Line[]): readonly string[] {
  const missed = lines.filter(({ isReached, name }, index) => isReached === false &&
    lines.findIndex((line) => line.name === name && line.isReached === false) === index)
  return missed.length === 0
    ? []
    : ['Not reached:', '', ...missed.map(({ name, bound = 'what bounds it is not known yet' }) => `- \`${name}\`: ${bound}`), '']
}

/** Returns both sides of a profile beside each other. */
function profileOf ({ name, cells: [against = ''] = [], profiles: [ours = [], others = []] = [] }: Line): readonly string[] {
  if (ours.length === 0) return []
  const rows = Array.from({ length: Math.max(ours.length, others.length) }, (_, index) => [ours[index] ?? '', others[index] ?? ''])
  return [`Profile of \`${name}\`: µs of a request in the functions that take most by themselves.`, '', ...table(['ours', against], rows)]
}
