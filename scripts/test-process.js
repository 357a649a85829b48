// Loaded into each test process, behind tap. It takes away two things of tap that cost much time.
import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import processOnSpawn from 'process-on-spawn'

// tap does not look at the processes that a test starts. On Node 20 its loader takes more than a second of each of
// them. Coverage is judged by what the test processes themselves run.
processOnSpawn.removeAllListeners()
delete process.env.NODE_OPTIONS

// No hook runs for each promise and timer, which took a tenth of the processor time of the tests. By these hooks tap
// finds the test in which a stray error began. Without them the error fails the file; its stack still names the line.
const { createHook } = hooks
const unused = { enable: () => unused, disable: () => unused }
hooks.createHook = (callbacks) => {
  const isOfTap = new Error('asked by').stack?.includes('/async-hook-domain/') === true
  return isOfTap ? unused : createHook(callbacks)
}
syncBuiltinESMExports()
