// Loaded into each test process, behind tap: tap does not look at the processes that a test starts. On Node 20 its
// loader takes more than a second of each of them. Coverage is judged by what the test processes themselves run.
import processOnSpawn from 'process-on-spawn'

processOnSpawn.removeAllListeners()
delete process.env.NODE_OPTIONS
