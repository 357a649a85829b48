import fastJson from 'fast-json-stringify'

/** Returns the JSON of a value, as a schema says. */
export type Serialize = (value: unknown) => string

/**
 * Key under which a record with related records has the serializers that write these. Each serializer replaces the one
 * of an answer without related records, so that a serializer or schema of the host serves both.
 */
export const kIncluding = Symbol('rest-models.including')

/** A record or list that may have related records in it. */
interface Including {
  readonly [kIncluding]?: ReadonlyMap<Serialize, Serialize>
  readonly objects?: ReadonlyArray<Including | null>
}

/** Returns the serializer of a schema. */
export type SerializerOf = (schema: object) => Serialize

/**
 * Returns a function that gives the serializer of a schema. Equal schemas share a serializer, which is compiled when
 * first used. A schema with `$ref` comes from the application and is compiled at once, so that a fault in it shows at
 * start.
 */
export function serializerCompiler (): SerializerOf {
  const serializers = new Map<string, Serialize>()
  return (schema) => {
    const text = JSON.stringify(schema, withoutFormats)
    const compile = (): Serialize => compiled(text)
    const serialize = serializers.get(text) ?? (text.includes('"$ref":') ? compile() : whenUsed(compile))
    serializers.set(text, serialize)
    return serialize
  }
}

/**
 * Replacer for `JSON.stringify()` that leaves the keyword `format` out of a schema. With a format of dates or times,
 * fast-json-stringify would write values without escaping them, but a stored value may be any text.
 */
function withoutFormats (key: string, value: unknown): unknown {
  return key === 'format' && typeof value === 'string' ? undefined : value
}

/** Returns the serializer of the schema that `schemaOf` returns. Both are made when the serializer is first used. */
export function lazySerializer (schemaOf: () => object): Serialize {
  return whenUsed(() => compiled(JSON.stringify(schemaOf(), withoutFormats)))
}

function compiled (text: string): Serialize {
  return fastJson(JSON.parse(text))
}

function whenUsed (compile: () => Serialize): Serialize {
  let serialize: Serialize = (value) => {
    serialize = compile()
    return serialize(value)
  }
  const plain: Serialize = (value) => {
    const answer = value as Including | null | undefined
    const including = answer?.[kIncluding] ?? answer?.objects?.[0]?.[kIncluding]
    return (including?.get(plain) ?? serialize)(value)
  }
  return plain
}
