import type { ServerResponse } from 'node:http'
import { Socket, type Server } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { currentTurn } from '../../engines/event-loop-turn.js'
import { errors } from '../../errors.js'
import { Pipeline } from './pipeline.js'

/**
 * Requests of one HTTP/1 connection that may wait for the answers before theirs. One more closes the connection. Node
 * parses up to 1000 requests of a connection at once, and keeps 4 KB for each.
 */
const maxWaiting = 63

/**
 * Number of requests in one event-loop turn, of all connections together, after which all sockets are paused until the
 * next turn.
 */
const maxRequestsPerTurn = 500

/** Milliseconds after the last accepted connection. Until then, further clients are assumed to wait for theirs. */
const openingMs = 50

/**
 * Limits the load that clients cause by their connections: the requests that are read in one event-loop turn, the
 * requests that wait for earlier answers, and the answers that clients do not read.
 */
export class Connections {
  readonly unread = new UnreadAnswers()
  readonly #pipelines = new WeakMap<Socket, Pipeline>()
  readonly #sockets = new Set<Socket>()
  readonly #readLimit = new ReadLimit(this.#sockets)
  #openedAt = -Infinity

  constructor (server: Server) {
    const open = (socket: Socket): void => {
      this.#openedAt = performance.now()
      this.#watch(socket)
    }
    server.on('connection', open).on('secureConnection', open)
  }

  #watch (socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.unread.forget(socket)
    })
  }

  /**
   * Calls `done` for an HTTP/1 request when all earlier answers of its connection have been sent. For HTTP/2, which has
   * limits of its own, `done` is called at once. If too many requests wait, the connection is closed. Its requests then
   * end with REST_MODELS_CLIENT_GONE (499). Nobody gets that answer, but hooks of the host may count ended requests.
   */
  readonly onRequest: onRequestHookHandler = (request, reply, done) => {
    const { raw, raw: { socket } } = request
    // A request of HTTP/2 has a stream. Its version says nothing: Node's parser of HTTP/1 takes it from the client.
    if ('stream' in raw) return done()
    // If localhost has two addresses, Fastify listens to the second one with a server that it does not show.
    if (socket instanceof Socket && !socket.destroyed && !this.#sockets.has(socket)) this.#watch(socket)
    this.#readLimit.count()
    const resume = (): void => {
      if (reply.raw.socket === socket) this.unread.watch(socket, reply.raw)
      done()
    }
    if (reply.raw.socket !== null) return resume()
    const pipeline = this.#pipelineOf(socket)
    if (!socket.destroyed && pipeline.size < maxWaiting) return pipeline.wait(reply.raw, resume)
    if (!socket.destroyed) {
      request.log.info('Closed a connection, because too many of its requests were waiting for an answer')
      socket.destroy()
    }
    // Node had parsed this request with others before their connection was closed: no answer can arrive.
    done(new errors.ClientGone())
  }

  /**
   * True for 50 ms after a connection was accepted, when more clients may be waiting. Node accepts one client in each
   * event-loop turn, so a long turn would delay them.
   */
  areOpening (now: number): boolean {
    return now - this.#openedAt < openingMs
  }

  #pipelineOf (socket: Socket): Pipeline {
    const pipeline = this.#pipelines.get(socket) ?? new Pipeline(socket)
    this.#pipelines.set(socket, pipeline)
    return pipeline
  }
}

const ofServers = new WeakMap<Server, Connections>()

/**
 * Returns the connections of a server. If the plugin is registered several times in one app, all of its registrations
 * share them, so that the limits hold for the whole app.
 */
export function connectionsOf (server: Server): Connections {
  const connections = ofServers.get(server) ?? new Connections(server)
  ofServers.set(server, connections)
  return connections
}

/**
 * Stops reading from all sockets until the next event-loop turn when 500 requests came in this one. Without this, Node
 * would parse all requests that have arrived before it answers any of them, and one socket may hold 1000 requests.
 */
class ReadLimit {
  readonly #sockets: ReadonlySet<Socket>
  #turn = -1
  #count = 0

  /** @param sockets  open sockets of the app; the set changes with them */
  constructor (sockets: ReadonlySet<Socket>) {
    this.#sockets = sockets
  }

  /** Counts a request of this event-loop turn. The 500th pauses all sockets until the next turn. */
  count (): void {
    const turn = currentTurn()
    if (turn !== this.#turn) this.#count = 0
    this.#turn = turn
    if (++this.#count === maxRequestsPerTurn) this.#pause()
  }

  #pause (): void {
    // Sockets that the host has paused, or does not read yet, are left out, because the next turn would resume them.
    const paused = [...this.#sockets].filter(({ readableFlowing }) => readableFlowing === true)
    for (const socket of paused) socket.pause()
    setImmediate(() => { for (const socket of paused) socket.resume() })
  }
}

/** Bytes of unread answers over all connections at which no further request goes on. */
const maxUnreadBytes = 64 * 2 ** 20

/** Milliseconds for which a count of the unread bytes is used before they are counted again. */
const countValidMs = 50

/** Milliseconds that every client has to take an answer, before its connection may be closed to free memory. */
const minUnreadMs = 200

/**
 * The answer that a connection sends next, and when it was first seen to be complete but not yet taken by the client.
 */
interface Given {
  readonly answer: ServerResponse
  unreadSince: number | undefined
}

/**
 * Limits the answers that clients have not read to 64 MiB over all HTTP/1 connections. At the limit, new requests wait,
 * and the connections whose answers have waited longest, for at least 200 ms, are closed. Answers of other routes on
 * the same connections do not count.
 */
export class UnreadAnswers {
  readonly #given = new Map<Socket, Given>()
  #bytes = 0
  #countedAt = -Infinity

  /**
   * Counts the bytes of an answer from now on, until the client has taken it. It must be the next answer of the
   * connection.
   */
  watch (socket: Socket, answer: ServerResponse): void {
    this.#given.set(socket, { answer, unreadSince: undefined })
  }

  /** Forgets a connection, because it has closed. */
  forget (socket: Socket): void {
    this.#given.delete(socket)
  }

  /**
   * True if the answers that clients have not read yet take less than 64 MiB, over all connections. If they take more,
   * this first closes connections until they take less: those whose answer has waited longest come first. Connections
   * whose answer has waited less than 200 ms are kept.
   */
  hasRoom (now: number): boolean {
    if (now - this.#countedAt >= countValidMs) this.#count(now)
    return this.#bytes < maxUnreadBytes
  }

  #count (now: number): void {
    this.#countedAt = now
    this.#bytes = 0
    for (const [socket, given] of this.#given) {
      const { answer } = given
      this.#bytes += answer.writableLength
      if (answer.writableFinished || answer.destroyed) this.#given.delete(socket)
      else if (answer.writableEnded) given.unreadSince ??= now
    }
    if (this.#bytes >= maxUnreadBytes) this.#makeRoom(now)
  }

  #makeRoom (now: number): void {
    const late = [...this.#given].filter(([, { unreadSince = now }]) => now - unreadSince >= minUnreadMs)
    const sinceOf = ([, { unreadSince = now }]: (typeof late)[number]): number => unreadSince
    for (const [socket, { answer }] of late.sort((one, other) => sinceOf(one) - sinceOf(other))) {
      if (this.#bytes < maxUnreadBytes) return
      this.#bytes -= answer.writableLength
      socket.destroy()
    }
  }
}
