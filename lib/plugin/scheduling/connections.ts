import type { Server, Socket } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { Connection } from './connection.js'
import { Exchange } from './exchange.js'
import { ReadLimit } from './read-limit.js'
import { UnreadAnswers } from './unread-answers.js'

/** Most unanswered requests of a connection; one more closes it. Node parses 1000 at once, and keeps 4 KB for each. */
const maxPipelined = 64

/** Milliseconds after a connection was accepted during which others may be waiting to be accepted. */
const openingMs = 50

/** Limits the memory and the time of an app that clients may use by their connections. */
export class Connections {
  readonly unread = new UnreadAnswers()
  readonly #known = new WeakMap<Socket, Connection>()
  readonly #readLimit: ReadLimit
  #openedAt = -Infinity

  constructor (server: Server) {
    this.#readLimit = new ReadLimit(server)
    server.on('connection', () => { this.#openedAt = performance.now() })
  }

  /** Counts the requests of HTTP/1 connections. HTTP/2 has its own limits. */
  readonly onRequest: onRequestHookHandler = (request, reply, done) => {
    const { httpVersionMajor, socket } = request.raw
    const connection = httpVersionMajor === 1 ? this.#known.get(socket) ?? this.#open(socket) : undefined
    const exchange = new Exchange(reply.raw, connection)
    if (connection === undefined) return done()
    // Node had parsed this request with the others before their connection was closed: no answer could arrive.
    if (connection.isFlooded) return
    this.#readLimit.count()
    this.unread.watch(connection)
    if (connection.add(exchange) <= maxPipelined) return done()
    request.log.info('Closed a connection, because too many of its requests were waiting for an answer')
    connection.isFlooded = true
    connection.close()
  }

  /** True if clients may wait to be accepted. Node accepts one in each event-loop turn, so turns should be short. */
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
