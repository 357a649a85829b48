import { Type } from '@sinclair/typebox'

/** Parameters of the path of one record. */
export const keySchema = Type.Object({
  id: Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'Primary key of the record' })
})
