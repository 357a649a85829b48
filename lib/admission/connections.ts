import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { Connection } from './connection.js'
import { ReadLimit } from './read-limit.js'
import { UnreadAnswers } from './unread-answers.js'

/** Requests of a connection that are not answered: with one more it is closed. Node parses a thousand in one go, and keeps 4 KB for each. */
const maxPipelined = 64

/** Milliseconds after a connection was accepted in which others may be waiting for that. */
const openingMs = 100

/** What clients may hold of an app's memory and time by their connections. */
export class Connections {
  readonly unread = new UnreadAnswers()
  readonly #known = new WeakMap<Socket, Connection>()
  readonly #flooded = new WeakSet<Socket>()
  readonly #readLimit: ReadLimit
  #openedAt = -Infinity

  constructor (server: Server) {
    this.#readLimit = new ReadLimit(server)
    server.on('connection', () => { this.#openedAt = performance.now() })
  }

  /** Counts requests. HTTP/2 has bounds of its own. */
  readonly onRequest: onRequestHookHandler = (request, reply, done) => {
    const { httpVersionMajor, socket } = request.raw
    if (httpVersionMajor !== 1) return done()
    // Parsed together with too many others, before their connection was closed: nobody could be answered.
    if (this.#flooded.has(socket)) return
    this.#readLimit.count()
    const connection = this.#known.get(socket) ?? this.#open(socket)
    this.unread.watch(connection)
    if (connection.add(reply.raw) <= maxPipelined) return done()
    request.log.info('Closed a connection with too many requests that wait for answers')
    this.#flooded.add(socket)
    connection.close()
  }

  /** The connection of a request of HTTP/1. */
  of ({ socket }: IncomingMessage): Connection | undefined {
    return this.#known.get(socket)
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
