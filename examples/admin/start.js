// Starts the example workspace and this application, in one process.
const { createServer } = await import('vite').catch(() => {
  console.error('Install what this application needs first:\n\n  npm ci --prefix examples/admin\n')
  process.exit(1)
})

const { address } = await import('../../dist/examples/workspace/main.js')
process.env.API = address
const application = await createServer({ root: import.meta.dirname })
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, async () => await application.close())
await application.listen()
console.log('The application is on:')
application.printUrls()
