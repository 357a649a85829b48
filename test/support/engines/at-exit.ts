const tasks = new Set<() => void>()

/**
 * Does something when this process ends, by itself or by a signal; the newest task is done first. Call the result to
 * take it back.
 */
export function atExit (task: () => void): () => void {
  if (!isListening) listen()
  tasks.add(task)
  return () => { tasks.delete(task) }
}

let isListening = false

function listen (): void {
  isListening = true
  process.once('exit', doAll)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      doAll()
      // Once more, for whoever else listens, or else for the end that the signal means.
      process.kill(process.pid, signal)
    })
  }
}

function doAll (): void {
  for (const task of [...tasks].reverse()) task()
  tasks.clear()
}
