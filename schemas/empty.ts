import { Type } from '@sinclair/typebox'

/** The schema of an answer that has no body. */
export const emptySchema = Type.Null()
