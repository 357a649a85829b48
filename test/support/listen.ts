import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Test } from 'tap'
import type { DiagnosticsMessages } from '../../lib/index.js'

/** Lists the messages of a channel until the test ends. */
export function listen<N extends keyof DiagnosticsMessages> (t: Test, name: N): Array<DiagnosticsMessages[N]> {
  const messages: Array<DiagnosticsMessages[N]> = []
  const note = (message: unknown): void => { messages.push(message as DiagnosticsMessages[N]) }
  subscribe(name, note)
  t.teardown(() => { unsubscribe(name, note) })
  return messages
}
