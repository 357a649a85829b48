import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FieldFault } from '../lib/errors.js'
import { formats } from './formats.js'
import { messageOf } from './messages.js'

/** Returns the faults of an object's properties. It does not coerce, remove or fill in anything. */
export type Check = (value: object) => readonly FieldFault[]

/**
 * Compiler of checks against schemas. All resources of one plugin registration share a compiler. It compiles a check
 * when the check is first used.
 */
export interface CheckCompiler {
  ofObject (schema: TSchema): Check
  /**
   * Returns a check that gives the first fault of a value, or undefined if the value has none. Equal schemas share one
   * compiled check.
   */
  ofValue (schema: TSchema): (value: unknown) => string | undefined
}

/**
 * Validates schemas themselves, and keeps none of them. Compiling the meta-schema takes 10 to 40 ms, so the process
 * does it once.
 */
const schemaValidator = new Ajv({ formats })

/** Returns a compiler with a cache of its own. */
export function checkCompiler (): CheckCompiler {
  const ajv = new Ajv({
    formats, allErrors: true, allowUnionTypes: true, ownProperties: true, meta: false, validateSchema: false
  })
  const ofValues = new Map<string, ValidateFunction>()
  const validatorOf = (schema: TSchema): ValidateFunction => {
    const text = JSON.stringify(schema)
    const validate = ofValues.get(text) ?? ajv.compile(requireSound(schema))
    ofValues.set(text, validate)
    return validate
  }
  return {
    ofObject: (schema) => {
      requireSound(schema)
      let validate: ValidateFunction | undefined
      return (value) => {
        validate ??= ajv.compile(schema)
        return faultsOf(validate, value).map(faultOf)
      }
    },
    ofValue: (schema) => (value) => faultsOf(validatorOf(schema), value).map(messageOf)[0]
  }
}

/** Returns a schema if it is valid itself. Otherwise it throws the error of Ajv. */
function requireSound (schema: TSchema): TSchema {
  schemaValidator.validateSchema(schema, true)
  return schema
}

function faultsOf (validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  validate(value)
  return validate.errors ?? []
}

function faultOf (fault: ErrorObject): FieldFault {
  const { keyword, instancePath, params } = fault
  const field = keyword === 'required' ? String(params['missingProperty']) : instancePath.slice(1)
  return { field, message: messageOf(fault) }
}
