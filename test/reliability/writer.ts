import { openSync, writeSync } from 'node:fs'
import { client } from '../helper.js'
import { openSite } from './workers.js'

/** A line of the log: what is about to be asked, or what was answered; `content` is null when the record was deleted. */
export interface LogLine {
  readonly id: number
  readonly content: string | null
  readonly answered: boolean
}

const [path = '', logPath = '', durability = 'full'] = process.argv.slice(2)
const log = openSync(logPath, 'a')
const { app } = await openSite(path, { durability: durability as 'full' | 'normal' })
const { post, put, delete: remove } = client(app)
const note = (line: LogLine): void => { writeSync(log, `${JSON.stringify(line)}\n`) }
const as = 'alice'

/** Writes until the process is killed: creates, changes every second record, and deletes every third. */
for (let number = 0; ; number++) {
  const content = `${process.pid} ${number}`
  note({ id: 0, content, answered: false })
  const created = await post('/api/message/', { content }, { as })
  const { id } = created.json<{ id: number }>()
  if (created.statusCode !== 201) throw new Error(created.body)
  note({ id, content, answered: true })
  if (number % 2 === 0) {
    note({ id, content: `${content} changed`, answered: false })
    const changed = await put(`/api/message/${id}/`, { content: `${content} changed` }, { as })
    if (changed.statusCode !== 200) throw new Error(changed.body)
    note({ id, content: `${content} changed`, answered: true })
  }
  if (number % 3 === 0) {
    note({ id, content: null, answered: false })
    if ((await remove(`/api/message/${id}/`, { as })).statusCode !== 204) throw new Error('not deleted')
    note({ id, content: null, answered: true })
  }
  if (number === 0) process.send?.('writing')
}
