import { Type } from '@sinclair/typebox'

/** Fastify's own error shape, and for faulty parameters and fields the list of them. */
export const errorSchema = Type.Object({
  statusCode: Type.Integer(),
  code: Type.Optional(Type.String()),
  error: Type.String(),
  message: Type.String(),
  details: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String() })))
})
