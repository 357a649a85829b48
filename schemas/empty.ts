import { Type } from '@sinclair/typebox'

/** Schema of an answer that has no body. */
export const emptySchema = Type.Null()
