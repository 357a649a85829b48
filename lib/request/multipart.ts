import { Busboy } from '@fastify/busboy'
import { errors } from '../errors.js'
import type { Entries } from './query-string.js'

/**
 * The text fields of a `multipart/form-data` body, in their order; of more than two fields the first two.
 *
 * @throws REST_MODELS_INVALID_BODY (400) if the body is malformed or holds a file
 */
export async function readMultipart (body: Buffer, contentType: string): Promise<Entries> {
  try {
    return await fieldsOf(body, contentType)
  } catch {
    throw new errors.InvalidBody('a well-formed multipart form without files')
  }
}

async function fieldsOf (body: Buffer, contentType: string): Promise<Entries> {
  return await new Promise((resolve, reject) => {
    const entries: Array<readonly [string, string]> = []
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: body.length, fields: 2 }
    })
    parser.on('field', (name, value) => { entries.push([name, value]) })
    // A file that is cut off fails on its own stream, which would end the process if nobody listened.
    parser.on('file', (_name, stream) => { stream.on('error', reject).resume(); reject(new Error('a file')) })
    parser.on('error', reject)
    parser.on('finish', () => resolve(entries))
    parser.end(body)
  })
}
