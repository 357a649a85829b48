import type pg from 'pg'
import { askAlone } from '../server/ask-alone.js'
import { driver } from './driver.js'

interface ProbeOptions {
  readonly processes?: readonly number[]
  readonly maxMs?: number
}

/** State of a server, as the server reports it. */
export interface PostgresReport {
  readonly standby: boolean
  /** True if the connection accepts no writes. */
  readonly isReadOnly: boolean
  /** True if standbys receive the writes of this server. */
  readonly hasStandbys: boolean
  /**
   * Milliseconds that a standby is behind what its primary has sent; 0 for a primary; null for a standby that follows
   * no primary, or cannot tell.
   */
  readonly lag: number | null
  /** Ids of the server processes that work on a statement, among those that were asked about. */
  readonly busy: readonly number[]
}

/**
 * Query for a {@link PostgresReport}. The lag is the age of the last replayed commit, or 0 if nothing remains to be
 * replayed, because that age also grows while the primary is idle. If the database user is not a member of
 * pg_read_all_stats, the query cannot see changes that the standby has not received, and takes no account of them.
 */
const reportQuery = `select pg_is_in_recovery() as standby,
  current_setting('transaction_read_only') = 'on' as "isReadOnly",
  exists (select from pg_stat_replication) as "hasStandbys",
  array(select pid from pg_stat_activity where pid = any($1::integer[]) and state = 'active') as busy,
  case
    when not pg_is_in_recovery() then 0
    when not exists (select from pg_stat_wal_receiver) then null
    when coalesce((select latest_end_lsn from pg_stat_wal_receiver), pg_last_wal_receive_lsn())
      <= pg_last_wal_replay_lsn() then 0
    else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 * 1000
  end as lag`

/**
 * Asks a server for its state, on a connection that nobody else uses.
 *
 * @param processes  ids of the server processes for `busy`
 * @throws the error of the driver, within `maxMs` milliseconds (default: two seconds)
 */
export async function probePostgres (
  config: pg.ClientConfig, { processes = [], maxMs }: ProbeOptions = {}
): Promise<PostgresReport> {
  const client = new (driver().Client)(config)
  client.on('error', () => {})
  const alone = { socket: () => client.connection.stream, end: () => { client.end().catch(() => {}) } }
  return await askAlone(alone, async () => {
    await client.connect()
    const { rows: [report] } = await client.query<PostgresReport>(reportQuery, [processes])
    return report as PostgresReport
  }, maxMs)
}
