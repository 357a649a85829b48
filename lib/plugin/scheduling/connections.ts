import type { Server, Socket } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { Connection, Exchange } from './connection.js'
import { ReadLimit } from './read-limit.js'
import { UnreadAnswers } from './unread-answers.js'

/** Requests of a connection that are not answered: with one more it is closed. Node parses a thousand in one go, and keeps 4 KB for each. */
const maxPipelined = 64

/** Milliseconds after a connection was accepted in which others may be waiting for that. */
const openingMs = 50

/** What clients may hold of an app's memory and time by their connections. */
export class Connections {
  readonly unread = new UnreadAnswers()
  readonly #known = new WeakMap<Socket, Connection>()
  readonly #readLimit: ReadLimit
  #openedAt = -Infinity

  constructor (server: Server) {
    this.#readLimit = new ReadLimit(server)
    server.on('connection', () => { this.#openedAt = performance.now() })
  }

  /** Counts requests. HTTP/2 has bounds of its own. */
  readonly onRequest: onRequestHookHandler = (request, reply, done) => {
    const { httpVersionMajor, socket } = request.raw
    const connection = httpVersionMajor === 1 ? this.#known.get(socket) ?? this.#open(socket) : undefined
    const exchange = new Exchange(reply.raw, connection)
    if (connection === undefined) return done()
    // Parsed together with too many others, before their connection was closed: nobody could be answered.
    if (connection.isFlooded) return
    this.#readLimit.count()
    this.unread.watch(connection)
    if (connection.add(exchange) <= maxPipelined) return done()
    request.log.info('Closed a connection with too many requests that wait for answers')
    connection.isFlooded = true
    connection.close()
  }

  /** Whether others may be waiting to be accepted, of whom Node accepts one in a turn of the event loop: turns should be short. */
  areOpening (now: number): boolean {
    return now - this.#openedAt < openingMs
  }

  #open (socket: Socket): Connection {
    const connection = new Connection(socket)
    this.#known.set(socket, connection)
    socket.once('close', () => { this.unread.forget(connection) })
    return connection
  }
}
