import { Type } from '@sinclair/typebox'

/** Schema of an error: Fastify's own shape, plus `details` with the faulty parameters and fields. */
export const errorSchema = Type.Object({
  statusCode: Type.Integer(),
  code: Type.Optional(Type.String()),
  error: Type.String(),
  message: Type.String(),
  details: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String() })))
})
