import { Type, type TObject, type TSchema } from '@sinclair/typebox'

/**
 * Schema of the paging information of a list: the resource, the page number, links to the neighbouring pages, and the
 * number of records if the client asks for it.
 */
export const pageSchema = Type.Object({
  model: Type.String({ description: 'Name of the resource' }),
  page: Type.Integer({ minimum: 1, description: 'Number of this page, counted from 1' }),
  next: Type.String({ description: 'Path and query of the next page, or an empty text' }),
  previous: Type.String({ description: 'Path and query of the page before, or an empty text' }),
  count: Type.Optional(Type.Integer({
    minimum: 0, description: 'Number of records on all pages, if `count=true` asks for it'
  })),
  capped: Type.Optional(Type.Boolean({
    description: 'Beside `count`: true if there are more records, because the server counts no further'
  }))
}, { additionalProperties: false })

/** Returns the schema of the answer to a list: an object with the paging information and the records of the page. */
export function envelopeSchema (record: TSchema, page: TSchema = pageSchema): TObject {
  return Type.Object({ meta: page, objects: Type.Array(record) }, { additionalProperties: false })
}
