import type { Duplex } from 'node:stream'
import { connectTimeout } from './server-options.js'

interface Alone {
  /** Returns the socket of a connection that nobody else uses. Encryption replaces it by another socket. */
  socket (): Duplex
  /** Says goodbye to the server. */
  end (): void
}

/** Asks a server on a connection of its own, which is closed after two seconds at the latest. */
export async function askAlone<Answer> ({ socket, end }: Alone, ask: () => Promise<Answer>): Promise<Answer> {
  const timer = setTimeout(() => { socket().destroy(new Error('The server does not answer')) }, connectTimeout)
  try {
    return await ask()
  } finally {
    if (socket().destroyed) clearTimeout(timer)
    else socket().once('close', () => { clearTimeout(timer) })
    end()
  }
}
