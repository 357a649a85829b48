import type { Duplex } from 'node:stream'

/**
 * Ends a connection that gives no answer within some milliseconds. The timer knows the socket alone: what it knew of a
 * statement would outlive its answer until the next major garbage collection.
 *
 * @returns what is to be given to clearTimeout when the answer is there
 */
export function expectAnswer (socket: Duplex, milliseconds: number): NodeJS.Timeout {
  return setTimeout(end, milliseconds, socket)
}

function end (socket: Duplex): void {
  socket.destroy(new Error('The server does not answer'))
}
