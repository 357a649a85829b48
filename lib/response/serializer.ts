import fastJson, { type Schema } from 'fast-json-stringify'

/** The JSON of a value, as a schema says. */
type Serialize = (value: unknown) => string

/**
 * Gives the serializer of a schema. It serves every schema that says the same, and is compiled when it is first used, unless
 * the schema refers to others: a host put it there, and is told at the start if it cannot be compiled.
 */
export function serializerCompiler (): (schema: object) => Serialize {
  const serializers = new Map<string, Serialize>()
  return (schema) => {
    const text = JSON.stringify(schema, withoutFormats)
    const compile = (): Serialize => fastJson(JSON.parse(text) as Schema)
    const serialize = serializers.get(text) ?? (text.includes('"$ref":') ? compile() : whenUsed(compile))
    serializers.set(text, serialize)
    return serialize
  }
}

/** Fast-json-stringify writes dates and times without escaping them, but what is stored may be any text. */
function withoutFormats (key: string, value: unknown): unknown {
  return key === 'format' && typeof value === 'string' ? undefined : value
}

function whenUsed (compile: () => Serialize): Serialize {
  let serialize: Serialize = (value) => {
    serialize = compile()
    return serialize(value)
  }
  return (value) => serialize(value)
}
