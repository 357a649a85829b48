// @once: about bodies in documents, which no engine changes

import { Ajv2020 } from 'ajv/dist/2020.js'
import { test } from 'tap'
import { bigint, decimal, defineModel, json, key, password, userAuth, type Field } from '../../lib/index.js'
import { User } from '../support/site.js'
import { documentedApp, info } from './documents.js'

const ajv = new Ajv2020({ strict: false })
const longest = 'x'.repeat(1024)

interface FieldCase {
  readonly field: Field
  readonly accepted: readonly unknown[]
  readonly refused: readonly unknown[]
}

/** Fields whose bodies have rules, by the name of the field and of its resource. */
const cases: Readonly<Record<string, FieldCase>> = {
  id: { field: key({ generated: false }), accepted: [0, 7], refused: [-1] },
  cost: {
    field: decimal(),
    accepted: ['0', '-0.01', '9999999999999.9'],
    refused: ['1.234', '10000000000000', '.5', '01', '-0', '-0.00']
  },
  share: { field: decimal({ precision: 3, scale: 3 }), accepted: ['0.999', '0'], refused: ['1', '0.1234', '-0.000'] },
  pieces: { field: decimal({ precision: 2, scale: 0 }), accepted: ['99', '-9'], refused: ['100', '1.0', '-0'] },
  big: {
    field: bigint(),
    accepted: ['9223372036854775807', '-9223372036854775808'],
    refused: ['9223372036854775808', '-9223372036854775809', '10000000000000000000', '-0']
  },
  secret: { field: password(), accepted: [longest], refused: [`${longest}x`] },
  short: { field: password({ maxLength: 8 }), accepted: ['12345678'], refused: ['123456789'] },
  long: { field: password({ maxLength: 2000 }), accepted: [longest], refused: [`${longest}x`] },
  extra: { field: json(), accepted: [0, '', false, [null], { any: null }], refused: [null] },
  free: { field: json({ nullable: true }), accepted: [0, null], refused: [] }
}

for (const openapi of ['3.0.3', '3.1.0']) {
  test(`D-73: in OpenAPI ${openapi}, a body is refused by its schema if the API refuses it`, async (t) => {
    const models = Object.entries(cases).map(([name, { field }]) => defineModel(name, { [name]: field }))
    const { document, post } = await documentedApp(t, {
      models: [User, ...models],
      register: (registry) => { for (const model of models) registry.register(model, { auth: userAuth(User) }) }
    }, { openapi: { openapi, info } })
    for (const [name, { accepted, refused }] of Object.entries(cases)) {
      const [capital = '', ...others] = name
      const schema = document.schemas[`${capital.toUpperCase()}${others.join('')}Create`] ?? {}
      for (const value of [...accepted, ...refused]) {
        const fits = accepted.includes(value)
        t.equal(ajv.validate(schema, { [name]: value }), fits, `${name}: ${JSON.stringify(value)} in the document`)
        const { statusCode } = await post(`/api/${name}/`, { [name]: value }, { as: 'alice' })
        t.equal(statusCode, fits ? 201 : 400, `${name}: ${JSON.stringify(value)} in the API`)
      }
    }
  })
}
