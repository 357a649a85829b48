import { Type } from '@sinclair/typebox'
import type { CommonOptions } from '../values/field-options.js'
import { storableText } from '../values/values.js'
import type { KindRow } from './field-kind-row.js'

/**
 * Kind of the `id` of a record whose key has several columns. No field is of this kind. In requests, `parseId` of
 * `lib/model/key.ts` reads the texts of such an `id`, not `parse`.
 */
export const compositeKey = {
  options: {},
  expects: 'the id of a record: the values of its key in their order, each percent-encoded, joined by commas',
  schema: () => Type.String(),
  accept: storableText,
  parse: storableText,
  operators: ['eq', 'ne', 'in'],
  storage: 'text'
} as const satisfies KindRow<string, CommonOptions<string>>
