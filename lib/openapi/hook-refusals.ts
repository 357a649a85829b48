import type { JsonSchema } from '../../schemas/documentation.js'
import { failureResponse, type Failure } from './failures.js'

/** Describes the answer to a write that a hook refuses with a status that no other answer of the write has. */
export function hookRefusal (base: JsonSchema): JsonSchema {
  return {
    description: 'The application refuses this, with a status of its own',
    content: { 'application/json': { schema: base } }
  }
}

/**
 * Describes an error answer of a write with hooks. Hooks may answer with the same status for reasons of their own, and
 * with codes of their own.
 *
 * @param ref   schema of what the plugin answers
 * @param base  schema of any error
 */
export function hookedResponse (name: Failure, ref: JsonSchema, base: JsonSchema): JsonSchema {
  const response = failureResponse(name, { anyOf: [ref, base] })
  return { ...response, description: `${String(response['description'])}, or the application refuses this` }
}
