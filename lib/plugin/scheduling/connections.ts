import type { Server, Socket } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { Pipeline } from './pipeline.js'
import { ReadLimit } from './read-limit.js'
import { UnreadAnswers } from './unread-answers.js'

/** Most waiting requests of a connection; one more closes it. Node parses 1000 at once, and keeps 4 KB for each. */
const maxWaiting = 63

/** Milliseconds after a connection was accepted during which others may be waiting to be accepted. */
const openingMs = 50

/** Limits the memory and the time of an app that clients may use by their connections. */
export class Connections {
  readonly unread = new UnreadAnswers()
  readonly #pipelines = new WeakMap<Socket, Pipeline>()
  readonly #readLimit: ReadLimit
  #openedAt = -Infinity

  constructor (server: Server) {
    this.#readLimit = new ReadLimit(server)
    server.on('connection', () => { this.#openedAt = performance.now() })
  }

  /** Lets the requests of an HTTP/1 connection go on one after the other. HTTP/2 has its own limits. */
  readonly onRequest: onRequestHookHandler = (request, reply, done) => {
    const { raw: { httpVersionMajor, socket } } = request
    if (httpVersionMajor !== 1) return done()
    this.#readLimit.count()
    this.unread.watch(socket)
    if (reply.raw.socket !== null) return done()
    // Node had parsed this request with the others before their connection was closed: no answer could arrive.
    if (socket.destroyed) return
    const pipeline = this.#pipelineOf(socket)
    if (pipeline.size < maxWaiting) return pipeline.wait(reply.raw, done)
    request.log.info('Closed a connection, because too many of its requests were waiting for an answer')
    socket.destroy()
  }

  /** True if clients may wait to be accepted. Node accepts one in each event-loop turn, so turns should be short. */
  areOpening (now: number): boolean {
    return now - this.#openedAt < openingMs
  }

  #pipelineOf (socket: Socket): Pipeline {
    const pipeline = this.#pipelines.get(socket) ?? new Pipeline(socket)
    this.#pipelines.set(socket, pipeline)
    return pipeline
  }
}
