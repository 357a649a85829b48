import type { ArrayRows } from '../query/engine.js'
import type { ListRequest } from '../request/list-query.js'
import type { ModelRecord } from './record.js'
import type { RowFormat } from './row-format.js'

interface PageMeta {
  readonly model: string
  readonly page: number
  readonly next: string
  readonly previous: string
}

/** A page of a list; links are paths with a query, empty where there is no such page. */
export interface ListEnvelope {
  readonly meta: PageMeta
  readonly objects: readonly ModelRecord[]
}

/** What the links of an envelope are made of. */
export interface PageLinks {
  readonly name: string
  /** Path of the list, with the final slash. */
  readonly url: string
  readonly limit: number
  readonly page: number
  readonly hasNext: boolean
  /** Characters that a query may have. */
  readonly queryLength: number
}

/** The list envelope of the service document; the links repeat everything else that was asked, in its order. */
export function toEnvelope (rows: ArrayRows, format: RowFormat, links: PageLinks, { rest }: ListRequest): ListEnvelope {
  const { name, url, limit, page, hasNext, queryLength } = links
  const others = rest.map(([parameter, value]) => `&${encodeURIComponent(parameter)}=${encodeURIComponent(value)}`).join('')
  const link = (number: number): string => {
    const query = `limit=${limit}&page=${number}${others}`
    // A link may be longer than the request it answers, and must not lead to a refusal.
    return query.length > queryLength ? '' : `${url}?${query}`
  }
  return withRows({ model: name, page, next: hasNext ? link(page + 1) : '', previous: page > 1 ? link(page - 1) : '' }, rows, format)
}

const kText = Symbol('rest-models.text')

/** An envelope whose records are made when somebody looks at them, as a hook may; else it is written from its rows. */
function withRows (meta: PageMeta, rows: ArrayRows, { toRecord, writeRecord, writeMeta }: RowFormat): ListEnvelope {
  let objects: readonly ModelRecord[] | undefined
  const envelope: ListEnvelope & Written = {
    meta,
    get objects () { return (objects ??= rows.map(toRecord)) },
    set objects (others) { objects = others },
    [kText] (this: ListEnvelope) {
      return objects === undefined ? `{"meta":${writeMeta(this.meta)},"objects":[${rows.map(writeRecord).join()}]}` : undefined
    }
  }
  return envelope
}

interface Written {
  [kText] (): string | undefined
}

/** The JSON of an answer that can be written without its records; undefined if it is to be serialized as it is. */
export function textOf (answer: unknown): string | undefined {
  return typeof answer === 'object' && answer !== null && kText in answer ? (answer as Written)[kText]() : undefined
}
