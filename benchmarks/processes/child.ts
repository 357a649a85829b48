import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { inputVariable } from '../servers/serve.js'

/** A process of ours that answers messages one by one; it ends when this process ends. */
export interface Child {
  /** The first message that it sends. */
  readonly greeting: Promise<unknown>
  /** @throws an error with its output if it ends, or if it does not answer in time */
  ask (question: object, seconds: number): Promise<unknown>
  end (): Promise<void>
}

/** Settings with which a JavaScript file is started. */
export interface ChildOptions {
  /** Arguments, passed as JSON in its environment. Other users cannot see that, and a URL may hold a password. */
  readonly input?: object
  /** Options of Node. */
  readonly nodeOptions?: readonly string[]
  readonly core: number | undefined
}

const startTime = 60
const patience = 5000

/** Starts a JavaScript file, on one core if that is given. `taskset` replaces itself by the process that it starts. */
export function startChild (file: string, { input = {}, nodeOptions = [], core }: ChildOptions): Child {
  const pin = core === undefined ? [] : ['taskset', '-c', String(core)]
  const [command = '', ...rest] = [...pin, process.execPath, ...nodeOptions, file]
  const child = spawn(command, rest, {
    env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '', [inputVariable]: JSON.stringify(input) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => { printed = (printed + chunk.toString()).slice(-4000) })
  const answer = async (seconds: number): Promise<unknown> => await nextMessage(child, { seconds, output: () => `${file}\n${printed}` })
  return {
    greeting: answer(startTime),
    ask: async (question, seconds) => {
      const answered = answer(seconds)
      child.send(question)
      return await answered
    },
    end: async () => { await end(child) }
  }
}

interface Waiting {
  readonly seconds: number
  readonly output: () => string
}

async function nextMessage (child: ChildProcess, { seconds, output }: Waiting): Promise<unknown> {
  const abort = new AbortController()
  const { signal } = abort
  const timer = setTimeout(() => { abort.abort(new Error(`No answer within ${seconds} s from ${output()}`)) }, seconds * 1000)
  const ended = once(child, 'exit', { signal }).then(([code]) => { throw new Error(`Ended with ${String(code)}: ${output()}`) })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]) as [unknown]
    return message
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    clearTimeout(timer)
    ended.catch(() => {})
    abort.abort()
  }
}

/** Ends the process: it ends by itself when its channel closes, otherwise a signal ends it. */
async function end (child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const timer = setTimeout(() => { child.kill('SIGKILL') }, patience)
  const ended = once(child, 'exit')
  if (child.connected) child.disconnect()
  await ended
  clearTimeout(timer)
}
