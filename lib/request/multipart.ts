import { createRequire } from 'node:module'
import type { Busboy } from '@fastify/busboy'
import { errors } from '../errors.js'
import type { Entries } from './query-string.js'

const load = createRequire(import.meta.url)

/**
 * Returns the name and text of the only field of a `multipart/form-data` body; an empty list if the body has no field,
 * or several parts.
 *
 * @throws REST_MODELS_INVALID_BODY (400) if the body is malformed or holds a file
 */
export async function readMultipart (body: Buffer, contentType: string): Promise<Entries> {
  // Loaded with the first such body, because few clients send one: it saves 4 ms at start.
  const { Busboy: Parser } = load('@fastify/busboy') as typeof import('@fastify/busboy')
  try {
    return await fieldsOf(Parser, body, contentType)
  } catch {
    throw new errors.InvalidBody('must be a well-formed multipart form without files')
  }
}

/**
 * Bytes that the parser gets at a time, so that it can stop at the second part. A body of 1 MiB may have 200,000 parts,
 * and to parse them all would take 2 s.
 */
const sliceBytes = 4096

/** True if a part of a form is a file: it has a name of a file, also an empty one, or holds any bytes. */
const isFile = (name: string | undefined, type: string) => name !== undefined || type === 'application/octet-stream'

async function fieldsOf (Parser: typeof Busboy, body: Buffer, contentType: string): Promise<Entries> {
  return await new Promise((resolve, reject) => {
    const entries: Array<readonly [string, string]> = []
    // The parser would read a field in the charset that it names, but bodies are UTF-8. It gives files as bytes.
    const isPartAFile = () => true
    const parser = new Parser({ headers: { 'content-type': contentType }, limits: { parts: 1 }, isPartAFile })
    parser.on('partsLimit', () => {
      resolve([])
      parser.destroy()
    })
    parser.on('file', (name, stream, fileName, _encoding, type) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => { chunks.push(chunk) })
      stream.on('end', () => { entries.push([name, Buffer.concat(chunks).toString()]) })
      // A part that is cut off fails on its own stream. Without a listener, that error would end the process.
      stream.on('error', reject)
      if (isFile(fileName, type)) reject(new Error('a file'))
    })
    parser.on('error', reject)
    parser.on('finish', () => resolve(entries))
    for (let start = 0; start < body.length && !parser.destroyed; start += sliceBytes) {
      parser.write(body.subarray(start, start + sliceBytes))
    }
    if (!parser.destroyed) parser.end()
  })
}
