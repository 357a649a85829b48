import { down, type HealthReport, type PoolState } from '../health.js'

/** Answer of a node (database server) about its state. */
export interface NodeReport extends Omit<HealthReport, 'pool'> {
  /** True if the node meets the options: for example, it is no standby if they demand a node that accepts writes. */
  readonly isUsable: boolean
}

/** Node (database server) that can be asked for its state. */
export interface ReportingNode {
  readonly pool: PoolState
  /**
   * Asks the node for its state, on a connection that nobody else uses.
   *
   * @throws within 1 s: the driver's error, or another one if the node refuses all queries
   */
  report (): Promise<NodeReport>
}

const unreachable: NodeReport = { ...down, isUsable: false }
/** Report on a node (database server) that accepts no more connections, but has given some to this process. */
const full: NodeReport = { status: 'up', role: null, lag: null, isUsable: true }

/**
 * Returns the state of the node (database server) in use or, if that is not usable, of the first usable one. If none is
 * usable, returns the state of the first node that answers, or otherwise of the node in use. All nodes are asked at the
 * same time, so that the answer takes no longer than that of one. If there are several nodes, the role `single` becomes
 * `primary`, because the URL names other servers of the same database.
 *
 * @param used    the node in use
 * @param isFull  true if an error says that a node works, but accepts no more connections
 */
export async function readNodesHealth<Node extends ReportingNode> (
  { all, used }: { readonly all: readonly Node[], readonly used: Node }, isFull: (error: unknown) => boolean
): Promise<HealthReport> {
  const ask = async (node: Node): Promise<NodeReport & Pick<HealthReport, 'pool'>> => {
    const report = await node.report()
      .catch((error: unknown) => isFull(error) && node.pool.size > 0 ? full : unreachable)
    return { ...report, pool: node.pool }
  }
  const [first, ...others] = await Promise.all([ask(used), ...all.filter((node) => node !== used).map(ask)])
  const reports = [first, ...others]
  const { status, role, lag, pool } =
    reports.find((report) => report.isUsable) ?? reports.find(({ status }) => status !== 'down') ?? first
  return { status, role: all.length > 1 && role === 'single' ? 'primary' : role, lag, pool }
}
