// @once: compiles schemas, without a database

import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { formatNames } from 'ajv-formats/dist/formats.js'
import fc from 'fast-check'
import { test } from 'tap'
import { fieldKinds } from '../../lib/fields/field-kinds.js'
import { kindDocumentation } from '../../lib/fields/kind-documentation.js'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, password, text, uuid,
  type Field, type Model
} from '../../lib/index.js'
import { bigintPattern, bigintText, decimal as decimalText, decimalPattern } from '../../lib/values/values.js'
import { checkCompiler } from '../../schemas/check.js'
import { formats } from '../../schemas/formats.js'
import { shapeSchema } from '../../schemas/shapes.js'
import { share } from '../support/share.js'
import { holds } from './holds.js'

type Make = (options: object) => Field
const Target = defineModel('Target', { name: text() })
const makers: Readonly<Record<string, Make>> = {
  bigint,
  boolean,
  date,
  datetime,
  decimal,
  integer,
  json,
  number,
  password,
  text,
  uuid,
  foreignKey: (options) => foreignKey(() => Target, options)
}

const count = fc.constantFrom<unknown>(0, 1, 2, 7, 15, 2048, 65536, Number.MAX_SAFE_INTEGER)
const bound = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
const plausible: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  nullable: fc.boolean(),
  unique: fc.boolean(),
  minLength: count,
  maxLength: count,
  precision: count,
  scale: count,
  minimum: bound,
  maximum: bound,
  format: fc.constantFrom(...formatNames),
  enum: fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 3 })
}
const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, true, 'a', '', 1.5, -1, -0, NaN, Infinity, 2 ** 53),
  fc.array(fc.constantFrom<unknown>('a', 'b', '', 1, null), { maxLength: 3 }),
  fc.anything({ maxDepth: 1 })
)

/** A kind of field and values for its options, one in ten of which is odd. */
const anyField = fc.constantFrom(...Object.entries(makers)).chain(([kind, make]) => {
  const names = ['nullable', 'unique', ...Object.keys(fieldKinds[kind as keyof typeof fieldKinds].options)]
  const valueOf = (name: string) =>
    fc.oneof({ weight: 9, arbitrary: plausible[name] ?? odd }, { weight: 1, arbitrary: odd })
  return fc.record(Object.fromEntries(names.map((name) => [name, valueOf(name)])), { requiredKeys: [] }).map(make)
})

/** Options that defineModel refuses give no model. */
function modelOf (field: Field): Model | undefined {
  try {
    return defineModel('Thing', { field })
  } catch {
    return undefined
  }
}

test('options that defineModel permits give schemas that are sound and can be compiled', async (t) => {
  const ajv = new Ajv({ formats })
  const checks = checkCompiler()
  let models = 0
  await holds(t, 1000, fc.asyncProperty(anyField, async (field) => {
    const model = modelOf(field)
    if (model === undefined) return
    models++
    for (const shape of ['record', 'create', 'update'] as const) {
      const schema = shapeSchema(shape, { visible: model.columns, writable: model.columns })
      ajv.validateSchema(schema, true)
      checks.ofObject(schema)({})
    }
  }))
  t.ok(models > 100 * share, `${models} models`)
})

test('patterns of bigints and decimals permit what the API accepts, and nothing else', async (t) => {
  const limit = 2n ** 63n
  const number = fc.oneof(
    fc.bigInt({ min: -2n * limit, max: 2n * limit }).map(String),
    fc.integer({ min: 0, max: 18 }).chain((zeros) => fc.bigInt({ min: -100n, max: 100n })
      .map((delta) => String(limit / 10n ** BigInt(zeros) * 10n ** BigInt(zeros) + delta))),
    fc.stringMatching(/^[-+]?[01]{0,2}[.]?[0-9]{0,4}$/)
  )
  const digits = fc.integer({ min: 1, max: 15 }).chain((precision) =>
    fc.record({ precision: fc.constant(precision), scale: fc.integer({ min: 0, max: precision }) }))
  const matches = (pattern: unknown, text: string): boolean => new RegExp(String(pattern), 'u').test(text)
  const edges = [limit, limit - 1n, -limit, -limit - 1n, 0n, 10n ** 18n, 10n ** 19n].map(String)
  const anyBigint = fc.oneof(number, fc.constantFrom(...edges, '-0', '', '-', '01', '1.0'))
  await holds(t, 1000, fc.asyncProperty(anyBigint, async (text) => {
    assert.equal(matches(bigintPattern, text), bigintText(text) !== undefined)
  }))
  const anyDecimal = fc.oneof(number, fc.constantFrom('-0', '-0.0', '-0.00', '-0.01', '0.', '00'))
  await holds(t, 1000, fc.asyncProperty(digits, anyDecimal, async (options, text) => {
    const isAccepted = decimalText(text, options) !== undefined
    assert.equal(matches(kindDocumentation.decimal.body?.(options)['pattern'], text), isAccepted)
    if (isAccepted) assert.ok(matches(decimalPattern, text))
  }))
  for (const text of ['-0', '-0.000', '-0.', '01', '.5']) t.notOk(matches(decimalPattern, text), text)
})
