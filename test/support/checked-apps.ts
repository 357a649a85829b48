import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { checkAnswers } from './answers.js'

/**
 * Imported, this compares the answers of every app that is made in the process, whoever makes it, with the app's own
 * document. A fault is an exception that nobody handles: it ends the process, and fails a test file.
 */
const fail = (fault: string): void => { setImmediate(() => { throw new Error(fault) }) }

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { readonly fastify: FastifyInstance }
  // Not awaited: Fastify would go on before it has loaded what the app registers itself.
  checkAnswers({ fail }, fastify)
})
