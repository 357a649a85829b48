import type { Random } from '../../benchmarks/random.js'
import { basic } from '../support/site.js'
import type { Fields, Ledger } from './ledger.js'

const headers = { authorization: basic('alice') }
/** Some contents take more than one page of the file. */
const lengths = [0, 100, 1000, 20_000]

export interface WriteLoad {
  readonly address: string
  readonly ledger: Ledger
  readonly random: Random
  /** Begins each content, so that no other load writes the same. */
  readonly name: string
  /** True if a 503 is the end of the load, because the database server was killed. */
  readonly mayRefuse: boolean
}

/**
 * Creates, changes and deletes messages one after the other until the server does not answer any more. @throws if it
 * answers anything but success
 */
export async function writeUntilEnd ({ address, ledger, random, name, mayRefuse }: WriteLoad): Promise<void> {
  const send = async (method: string, path: string, body?: Fields): Promise<Response> => {
    const reply = await fetch(new URL(path, address), { method, headers, ...body && { body: JSON.stringify(body) } })
    if (reply.status === 503 && mayRefuse) throw new Error('The server is gone')
    if (!reply.ok) throw new WrongAnswer(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return reply
  }
  const draw = (number: number): Fields => ({
    content: `${name} ${number} ${'x'.repeat(lengths[random(lengths.length)] ?? 0)}`,
    pub_date: new Date(Date.UTC(2000, 0, 1) + random(1e9) * 1000).toISOString().slice(0, 19).replace('T', ' ')
  })
  try {
    for (let number = 0; ; number += 2) {
      const path = await create(draw(number))
      if (random(2) === 0) await change(path, draw(number + 1))
      if (random(3) === 0) await change(path, null)
    }
  } catch (error) {
    if (error instanceof WrongAnswer) throw error
  }

  async function create (fields: Fields): Promise<string> {
    ledger.askCreate(fields)
    const reply = await send('POST', '/api/message/', fields)
    const path = reply.headers.get('location') ?? ''
    ledger.tellCreated(idOf(path), fields)
    await reply.arrayBuffer()
    return path
  }

  async function change (path: string, fields: Fields | null): Promise<void> {
    ledger.askChange(idOf(path), fields)
    const reply = fields === null ? await send('DELETE', path) : await send('PUT', path, fields)
    ledger.tellChanged(idOf(path), fields)
    await reply.arrayBuffer()
  }
}

function idOf (path: string): number {
  return Number(path.split('/').at(-2))
}

class WrongAnswer extends Error {}
