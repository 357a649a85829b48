import { Ajv, type ErrorObject } from 'ajv'
import ajvFormats from 'ajv-formats'
import type { TSchema } from '@sinclair/typebox'
import type { FieldFault } from '../lib/errors.js'

/** Lists what is wrong with the properties of an object; nothing is coerced, removed or filled in. */
export type Check = (value: object) => readonly FieldFault[]

/** Compiles checks of objects against their schemas; one compiler serves a whole container. */
export function checkCompiler (): (schema: TSchema) => Check {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, ownProperties: true })
  ajvFormats.default(ajv)
  return (schema) => {
    const validate = ajv.compile(schema)
    return (value) => validate(value) ? [] : (validate.errors as ErrorObject[]).map(faultOf)
  }
}

function faultOf ({ keyword, instancePath, params, message }: ErrorObject): FieldFault {
  return keyword === 'required'
    ? { field: params['missingProperty'] as string, message: 'is required' }
    : { field: instancePath.slice(1), message: String(message) }
}
