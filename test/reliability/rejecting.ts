import '../support/site.js'

/** Leaves something unhandled, as a test might: nothing that tests import may hide it. */
const [kind] = process.argv.slice(2)
if (kind === 'rejection') Promise.reject(new Error('nobody handles this rejection')).finally(() => {})
if (kind === 'exception') setImmediate(() => { throw new Error('nobody handles this exception') })
