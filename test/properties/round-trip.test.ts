import assert from 'node:assert/strict'
import { Ajv, type ValidateFunction } from 'ajv'
import ajvFormats from 'ajv-formats'
import fc from 'fast-check'
import { test } from 'tap'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, text, userAuth, uuid,
  type Json
} from '../../lib/index.js'
import { buildApp, User, type BuildOptions, type TestApp } from '../support/site.js'
import { holds } from './holds.js'
import { kindModel, modelledKinds, type ModelledKind } from './kinds.js'

const required = {
  text: text(),
  integer: integer(),
  bigint: bigint(),
  number: number(),
  decimal: decimal(),
  boolean: boolean(),
  datetime: datetime(),
  date: date(),
  json: json(),
  uuid: uuid(),
  link: foreignKey(() => User)
}
const optional = {
  text: text({ nullable: true }),
  integer: integer({ nullable: true }),
  bigint: bigint({ nullable: true }),
  number: number({ nullable: true }),
  decimal: decimal({ nullable: true }),
  boolean: boolean({ nullable: true }),
  datetime: datetime({ nullable: true }),
  date: date({ nullable: true }),
  json: json({ nullable: true }),
  uuid: uuid({ nullable: true }),
  link: foreignKey(() => User, { nullable: true })
}
const withDefaults = {
  text: text({ default: "it's" }),
  integer: integer({ default: -1 }),
  bigint: bigint({ default: '9223372036854775807' }),
  number: number({ default: 0.1 }),
  decimal: decimal({ default: '1.5' }),
  boolean: boolean({ default: true }),
  datetime: datetime({ default: '2000-01-01T00:00:00Z' }),
  date: date({ default: '2000-01-01' }),
  json: json({ default: { a: [null] } }),
  uuid: uuid({ default: '0F8FAD5B-D9CB-469F-A165-70867728950E' }),
  link: foreignKey(() => User, { default: 2 })
}
const defaults: Readonly<Record<string, Json>> = {
  text: "it's",
  integer: -1,
  bigint: '9223372036854775807',
  number: 0.1,
  decimal: '1.50',
  boolean: true,
  datetime: '2000-01-01 00:00:00',
  date: '2000-01-01',
  json: { a: [null] },
  uuid: '0f8fad5b-d9cb-469f-a165-70867728950e',
  link_id: 2
}

/** What a field that is left out becomes in each model; undefined where it must not be left out. */
const models = [
  { model: defineModel('Required', required), leftOut: () => undefined },
  { model: defineModel('Optional', optional), leftOut: () => null },
  { model: defineModel('Defaults', withDefaults), leftOut: (key: string) => defaults[key] }
] as const

type Schemas = Map<string, ValidateFunction>

/** An app, and checks of what its routes declare that they answer, by method and path. */
async function build (t: Parameters<typeof buildApp>[0]): Promise<{ app: TestApp, schemas: Schemas }> {
  const schemas: Schemas = new Map()
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: true })
  ajvFormats.default(ajv)
  const prepare: BuildOptions['prepare'] = (app) => {
    app.addHook('onRoute', ({ method, url, schema }) => {
      for (const [status, answer] of Object.entries(schema?.response ?? {})) {
        if (status.startsWith('2') && !Array.isArray(method)) {
          schemas.set(`${method} ${url}`, ajv.compile({ ...answer as object }))
        }
      }
    })
  }
  const app = await buildApp(t, {
    models: [User, ...models.map(({ model }) => model)],
    register: (registry) => { for (const { model } of models) registry.register(model, { auth: userAuth(User) }) },
    prepare
  })
  return { app, schemas }
}

function requireValid (schemas: Schemas, route: string, answer: unknown): void {
  const validate = schemas.get(route)
  assert.ok(validate, `${route} declares what it answers`)
  assert.ok(validate(answer), JSON.stringify([answer, validate.errors]))
}

/** A value of a field: how it is written in a body, and how it is answered. */
interface Given { readonly written: Json, readonly answered: Json }

const shiftedDatetime = (value: string): Given =>
  ({
    written:
      `${new Date(Date.parse(`${value.replace(' ', 'T')}Z`) - 90 * 60_000).toISOString().slice(0, 19)}.123-01:30`,
    answered: value
  })

/** Other ways to write a value; each is answered in the one form. */
const respelled: Partial<Record<ModelledKind, (value: string) => Given>> = {
  datetime: (value) => value < '0001-01-02' ? { written: value, answered: value } : shiftedDatetime(value),
  decimal: (value) => ({ written: value.replace(/\.?0+$/, ''), answered: value }),
  uuid: (value) => ({ written: value.toUpperCase(), answered: value })
}

const given = (kind: ModelledKind): fc.Arbitrary<Given> =>
  fc.tuple(fc.oneof(kindModel(kind).any, fc.constantFrom(...kindModel(kind).few)), fc.boolean())
    .map(([value, isOther]) => {
      const respell = respelled[kind]
      return isOther && respell !== undefined ? respell(String(value)) : { written: value, answered: value }
    })
const fieldsGiven = fc.record({
  ...Object.fromEntries(modelledKinds.map((kind) => [kind, given(kind)])) as Record<ModelledKind, fc.Arbitrary<Given>>,
  link_id: fc.integer({ min: 1, max: 4 }).map((id) => ({ written: id, answered: id }))
})
const keys = [...modelledKinds, 'link_id'] as const
const some = (share: number) => fc.array(fc.boolean(), { minLength: keys.length, maxLength: keys.length })
  .map((isLeftOut) =>
    new Set(keys.filter((_key, index) => isLeftOut[index] === true).slice(0, Math.round(keys.length * share))))

const body = (values: Readonly<Record<string, Given>>, leftOut: ReadonlySet<string>): Record<string, Json> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !leftOut.has(key))
    .map(([key, { written }]) => [key, written]))

for (const { model, leftOut } of models) {
  const url = `/api/${model.table}/`
  test(`what is created is what is read, as its schema says: fields that are ${model.table}`, async (t) => {
    const { app, schemas } = await build(t)
    await holds(t, 250, fc.asyncProperty(fieldsGiven, some(model.table === 'required' ? 0 : 1), async (
      values, absent
    ) => {
      const expected = Object.fromEntries(
        keys.map((key) => [key, absent.has(key) ? leftOut(key) : values[key].answered])
      )
      const created = await app.post(url, body(values, absent), { as: 'alice' })
      assert.equal(created.statusCode, 201, created.body)
      const { id, ...record } = created.json()
      assert.deepEqual(record, expected)
      assert.equal(created.headers.location, `${url}${id}/`)
      requireValid(schemas, `POST ${url}`, created.json())

      const read = await app.get(`${url}${id}/`)
      assert.equal(read.body, created.body)
      requireValid(schemas, `GET ${url}:id/`, read.json())

      const listed = await app.get(`${url}?id=${id}`)
      assert.ok(listed.body.endsWith(`,"objects":[${read.body}]}`), `byte for byte the same in a list: ${listed.body}`)
      requireValid(schemas, `GET ${url}`, listed.json())
    }))
  })

  test(`what is updated is read, and what was read may be sent back: fields that are ${model.table}`, async (t) => {
    const { app, schemas } = await build(t)
    await holds(t, 120, fc.asyncProperty(fieldsGiven, fieldsGiven, some(1), async (before, after, kept) => {
      const { id } = (await app.post(url, body(before, new Set()), { as: 'alice' })).json()
      const changed = await app.put(`${url}${id}/`, body(after, kept), { as: 'alice' })
      assert.equal(changed.statusCode, 200, changed.body)
      const expected = Object.fromEntries(
        keys.map((key) => [key, kept.has(key) ? before[key].answered : after[key].answered])
      )
      assert.deepEqual(changed.json(), { id, ...expected })
      requireValid(schemas, `PUT ${url}:id/`, changed.json())

      const again = await app.put(`${url}${id}/`, changed.json(), { as: 'alice' })
      assert.equal(again.body, changed.body)
      assert.equal((await app.get(`${url}${id}/`)).body, changed.body)
    }))
  })
}
