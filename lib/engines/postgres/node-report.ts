import type { NodeReport } from '../server/nodes-health.js'
import { isStandby } from './connection.js'
import type { PostgresReport } from './probe.js'

/** Conditions that a server must meet to be used. */
interface Fitness {
  readonly writable: boolean
  readonly maxLag?: number
}

/**
 * Returns the reason why a server must not be used; undefined if it may be used. The reasons are: it is a standby
 * although it must accept writes, or `maxLag` is given and it lags by more milliseconds or cannot tell its lag.
 */
export function faultOf (
  { standby, lag }: Pick<PostgresReport, 'standby' | 'lag'>, { writable, maxLag }: Fitness
): Error | undefined {
  if (writable && standby) return isStandby()
  if (maxLag === undefined || (lag !== null && lag <= maxLag)) return undefined
  const message = lag === null
    ? 'The standby does not follow a primary'
    : `The standby is ${Math.round(lag)} ms behind its primary`
  return Object.assign(new Error(message), { code: 'STANDBY_LAG' })
}

/**
 * Returns the health of a node from what its server reports. `isUsable` is true if the server meets `fitness`, as
 * {@link faultOf} checks it.
 */
export function toNodeReport (report: Omit<PostgresReport, 'busy'>, fitness: Fitness): NodeReport {
  const { standby, isReadOnly, hasStandbys, lag } = report
  return {
    status: isReadOnly ? 'read-only' : 'up',
    role: standby ? 'replica' : hasStandbys ? 'primary' : 'single',
    lag,
    isUsable: faultOf(report, fitness) === undefined
  }
}
