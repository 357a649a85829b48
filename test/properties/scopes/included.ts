import assert from 'node:assert/strict'
import { urlOf, type Request } from './requests.js'
import { userOf, type World } from './scopes.js'
import type { FieldSpec, ModelSpec, ResourceSpec, Row, Rows, Sender, Value } from './specs.js'
import type { Answer, Twin } from './twins.js'

/** A world that an app serves, with all its rows. */
export interface ServedWorld {
  readonly world: World
  readonly rows: Rows
  readonly twin: Twin
  note (kind: string): void
}

interface ListAnswer {
  readonly meta: { readonly next: string, readonly previous: string }
  readonly objects: readonly Row[]
}

/** By default a path follows so many foreign keys, and one query so many different ones. */
const [maxJoins, maxTotalJoins] = [3, 5]
/** Pages of a list that are compared. */
const maxPages = 3
const operator = /^(eq|ne|lte?|gte?|in|is|i?like)$/

/** True if one of these paths leads where the clients of a resource may not go. */
export function isRefused (world: World, resource: ResourceSpec, paths: readonly string[]): boolean {
  return paths.some((path) => {
    let from: ResourceSpec | undefined = resource
    for (const name of path.split('__')) {
      from = from && relatedTo(world, resource, from, name)
      if (from === undefined) return true
    }
    return false
  })
}

/** The resource that shows the records behind a foreign key; undefined if there is none that the client may use. */
function relatedTo (
  { models, resources }: World, asked: ResourceSpec, { model, exclude }: ResourceSpec, name: string
): ResourceSpec | undefined {
  const field = models[model]?.fields.find((field) => field.name === name && field.kind === 'foreignKey')
  if (field === undefined || exclude.includes(name)) return undefined
  const target = resources[field.target as number] as ResourceSpec
  const isOpen = target.policy === 'open' || target.policy === 'writes'
  return isOpen || target.policy === asked.policy ? target : undefined
}

/** The foreign keys that paths need, each once. */
function joinsOf (paths: readonly string[]): Set<string> {
  return new Set(paths.flatMap((path) => {
    const names = path.split('__')
    return names.map((_name, index) => names.slice(0, index + 1).join('__'))
  }))
}

/** Compares an answer with related records with the answers of the resources that show them. */
export class Included {
  readonly #served: ServedWorld
  readonly #request: Request
  readonly #paths: readonly string[]

  constructor (served: ServedWorld, request: Request, paths: readonly string[]) {
    this.#served = served
    this.#request = request
    this.#paths = paths
  }

  async compare (): Promise<void> {
    const plain = urlOf(this.#request)
    const include = `${plain.includes('?') ? '&' : '?'}include=${this.#paths.join()}`
    await this.#compare(plain, `${plain}${include}`, 0)
  }

  async #compare (plainUrl: string, url: string, page: number): Promise<void> {
    const { twin, note } = this.#served
    const { sender, id } = this.#request
    const plain = await twin.send(sender, { url: plainUrl })
    const answer = await twin.send(sender, { url })
    const refusal = plain.status === 200 ? this.#refusal() : undefined
    if (plain.status !== 200) return this.#sameFailure(answer, plain)
    if (refusal !== undefined) {
      assert.deepEqual([answer.status, JSON.parse(answer.body).code], [400, refusal])
      return note(refusal === 'REST_MODELS_TOO_MUCH' ? 'too much' : 'refused')
    }
    assert.equal(answer.status, 200, answer.body)
    if (id !== undefined) {
      note('read')
      assert.equal(answer.body, JSON.stringify(await this.#withRelated(JSON.parse(plain.body))))
      return
    }
    note(page === 0 ? 'list' : 'next page')
    const { meta, objects } = JSON.parse(plain.body) as ListAnswer
    const written = `&include=${encodeURIComponent(this.#paths.join())}`
    const link = (text: string): string => text === '' ? '' : `${text}${written}`
    const records: unknown[] = []
    for (const record of objects) records.push(await this.#withRelated(record))
    const expected = { meta: { ...meta, next: link(meta.next), previous: link(meta.previous) }, objects: records }
    assert.equal(answer.body, JSON.stringify(expected))
    if (meta.next !== '' && page < maxPages) await this.#compare(meta.next, link(meta.next), page + 1)
  }

  /** A wrong query may be refused for another fault first. */
  #sameFailure (answer: Answer, plain: Answer): void {
    assert.equal(answer.status, plain.status)
    if (plain.status !== 400) assert.equal(answer.body, plain.body)
  }

  /** The code with which the paths are refused; undefined if they are right. */
  #refusal (): string | undefined {
    const { world } = this.#served
    const { resource } = this.#request
    const known: string[] = []
    for (const path of this.#paths) {
      if (path.split('__').length > maxJoins) return 'REST_MODELS_TOO_MUCH'
      if (isRefused(world, resource, [path])) return 'REST_MODELS_INVALID_INCLUDE'
      known.push(path)
      if (joinsOf([...this.#filterPaths(), ...known]).size > maxTotalJoins) return 'REST_MODELS_TOO_MUCH'
    }
    return undefined
  }

  /** The foreign keys that the filters follow, by their declared names. */
  #filterPaths (): readonly string[] {
    const { world: { models } } = this.#served
    const { query, resource } = this.#request
    return query.split('&').flatMap((part) => {
      const [name = ''] = part.split('=')
      const names = name.split('__').filter((name) => !operator.test(name)).slice(0, -1)
      let model = resource.model
      const path = names.map((name) => {
        const field = models[model]?.fields.find((field) => field.name === name || field.key === name) as FieldSpec
        model = field.target ?? 0
        return field.name
      })
      return path.length === 0 ? [] : [path.join('__')]
    })
  }

  /** A record with its related ones, as JSON puts them: each behind its key. */
  async #withRelated (record: Row): Promise<unknown> {
    return await this.#addTo(record, this.#request.resource, this.#paths)
  }

  async #addTo (record: Row, { model }: ResourceSpec, paths: readonly string[]): Promise<unknown> {
    const { world } = this.#served
    const { fields } = world.models[model] as ModelSpec
    const parts: Array<readonly [string, unknown]> = []
    for (const [key, value] of Object.entries(record)) {
      parts.push([key, value])
      const field = fields.find((field) => field.key === key && field.kind === 'foreignKey')
      const within = paths.filter((path) => path.split('__')[0] === field?.name)
      if (field !== undefined && within.length > 0) parts.push([field.name, await this.#related(field, value, within)])
    }
    return Object.fromEntries(parts)
  }

  async #related ({ target = 0 }: FieldSpec, id: Value, paths: readonly string[]): Promise<unknown> {
    const { twin, world, note } = this.#served
    if (id === null) {
      note('null reference')
      return null
    }
    const resource = world.resources[target] as ResourceSpec
    const { status, body } = await twin.send(this.#viewer(resource), { url: `/api/${resource.path}/${String(id)}/` })
    note(status === 200 ? 'record' : 'null outside')
    if (status === 200) {
      const deeper = paths.flatMap((path) => path.includes('__') ? [path.slice(path.indexOf('__') + 2)] : [])
      return await this.#addTo(JSON.parse(body), resource, deeper)
    }
    assert.equal(status, 404, body)
    return null
  }

  /** The user as whom the related resource is asked: nobody, if it does not know the users of the resource. */
  #viewer ({ policy }: ResourceSpec): Sender {
    const { resource, sender } = this.#request
    const user = userOf(resource, sender, true)
    const isForeign = (policy === 'foreign') !== (resource.policy === 'foreign')
    return isForeign || policy === 'open' ? 'nobody' : user
  }
}
