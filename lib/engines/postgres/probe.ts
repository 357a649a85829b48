import pg from 'pg'
import { askAlone } from '../server/ask-alone.js'

/** What a server says of itself. */
export interface PostgresReport {
  readonly standby: boolean
  /** Milliseconds that it is behind what its primary has sent; null if it follows no primary, or cannot tell. */
  readonly lag: number | null
  /** Those of the processes asked for that work on a statement. */
  readonly busy: readonly number[]
}

/**
 * The time of the last commit that was replayed grows old on a primary that has nothing to do, so it counts only while
 * something is to be replayed. What the primary has beyond what was received, only members of pg_read_all_stats see.
 */
const question = `select pg_is_in_recovery() as standby,
  array(select pid from pg_stat_activity where pid = any($1::integer[]) and state = 'active') as busy,
  case
    when not pg_is_in_recovery() then 0
    when not exists (select from pg_stat_wal_receiver) then null
    when coalesce((select latest_end_lsn from pg_stat_wal_receiver), pg_last_wal_receive_lsn())
      <= pg_last_wal_replay_lsn() then 0
    else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 * 1000
  end as lag`

/** @throws what the driver threw, after two seconds at the latest */
export async function probePostgres (
  config: pg.ClientConfig,
  processes: readonly number[] = []
): Promise<PostgresReport> {
  const client = new pg.Client(config)
  client.on('error', () => {})
  const alone = { socket: () => client.connection.stream, end: () => { client.end().catch(() => {}) } }
  return await askAlone(alone, async () => {
    await client.connect()
    const { rows: [report] } = await client.query<PostgresReport>(question, [processes])
    return report as PostgresReport
  })
}
