import assert from 'node:assert/strict'
import type { Draw } from '../../differential/draw.js'
import { engine } from '../../support/database.js'
import { drawLeaving, type Change } from './leaving.js'
import { drawRequest, drawSender, unknownKey, urlOf, type Body, type Request, type Scene } from './requests.js'
import { isInside, userOf, viewOf, type World } from './scopes.js'
import type { ModelSpec, Row, Rows, ScopeSpec, Value } from './specs.js'
import {
  fieldNamed, guess, insideOf, modelOf, storedRow, translate, withoutRow, type Translated
} from './translate.js'
import { Twin, type Answer } from './twins.js'

/** Counts what the requests were about. */
export type Note = (kind: string) => void

/** Compares an app with scopes with one that has no scopes and only the rows inside them. */
export class Match {
  readonly #world: World
  readonly #scoped: Twin
  readonly #plain: Twin
  readonly #note: Note
  #rows: Rows
  /** Whose rows the app without scopes has; empty if they must be put there anew. */
  #shown = ''
  #lastKey = 100
  /** What was asked, and how it was answered. */
  readonly log: string[] = []

  private constructor (world: World, rows: Rows, twins: readonly [Twin, Twin], note: Note) {
    this.#world = world
    this.#rows = rows
    this.#scoped = twins[0]
    this.#plain = twins[1]
    // PATCH does what PUT does, so both count as one.
    this.#note = (what) => { note(what.replace(/^PATCH /, 'PUT ')) }
  }

  static async start (world: World, rows: Rows, note: Note): Promise<Match> {
    const twins = await Promise.all([Twin.build(world, true), Twin.build(world, false)])
    await twins[0].fill(rows)
    const match = new Match(world, rows, twins, note)
    assert.deepEqual(await twins[0].rows(), rows)
    return match
  }

  async end (): Promise<void> {
    await Promise.all([this.#scoped.close(), this.#plain.close()])
  }

  /** Sends a few requests of one user to one resource. */
  async playSome (draw: Draw): Promise<void> {
    const { resource, sender } = this.#drawPair(draw)
    for (let count = draw.number(2, 8); count > 0; count--) {
      const isRead = draw.chance(50)
      const view = viewOf(this.#world, resource, userOf(resource, sender, isRead))
      const scene = { world: this.#world, rows: this.#rows, view }
      const request = drawRequest(draw, scene, resource, sender)
      if (request.method === 'GET' || request.method === 'HEAD') await this.#read(request, draw)
      else await this.#writeSomehow(draw, { ...scene, rows: this.#rows }, request)
    }
  }

  async #writeSomehow (draw: Draw, scene: Scene, request: Request): Promise<void> {
    const change = isSqlite && draw.chance(35) ? drawLeaving(draw, scene, request) : undefined
    if (change === undefined) await this.#write(request)
    else await this.#writeMeanwhile(request, change)
  }

  /** A resource and a user who may see some of it, more often than not. */
  #drawPair (draw: Draw): Pick<Request, 'resource' | 'sender'> {
    const pairs = Array.from({ length: draw.number(1, 3) }, () =>
      ({ resource: draw.one(this.#world.resources), sender: drawSender(draw) }))
    const seesSome = ({ resource, sender }: Pick<Request, 'resource' | 'sender'>): boolean => {
      const scene = this.#sceneOf({ resource, sender, method: 'GET', query: '' })
      return (insideOf(scene)[resource.model]?.length ?? 0) > 0
    }
    return pairs.find(seesSome) ?? pairs[0] as Pick<Request, 'resource' | 'sender'>
  }

  #sceneOf ({ resource, sender, method }: Request): Scene {
    const user = userOf(resource, sender, method === 'GET' || method === 'HEAD')
    return { world: this.#world, rows: this.#rows, view: viewOf(this.#world, resource, user) }
  }

  async #show (scene: Scene, name: string, extra?: Rows): Promise<void> {
    if (name !== '' && this.#shown === name) return
    await this.#plain.fill(insideOf(scene).map((rows, at) => [...rows, ...extra?.[at] ?? []]))
    this.#shown = name
  }

  async #read (request: Request, draw: Draw): Promise<void> {
    const { resource, sender, method } = request
    const scene = this.#sceneOf(request)
    await this.#show(scene, `${resource.path} ${userOf(resource, sender, true)}`)
    let url = urlOf(request)
    for (let pages = 0; url !== '' && pages < 4; pages++) {
      const [answer, expected] = await Promise.all([this.#scoped, this.#plain].map(async (twin) =>
        await twin.send(sender, { method, url }))) as [Answer, Answer]
      this.log.push(`${sender} ${method} ${url} ${answer.status}`)
      this.#same(request, answer, expected)
      this.#noteRead(scene, request, answer, pages)
      const { meta } = request.id === undefined && answer.status === 200 && method === 'GET'
        ? JSON.parse(answer.body) as { meta: { next: string } }
        : { meta: { next: '' } }
      url = draw.chance(70) ? meta.next : ''
    }
  }

  #noteRead (scene: Scene, request: Request, { status, body }: Answer, pages: number): void {
    const { method, id, query } = request
    this.#note(`${status}`)
    if (id !== undefined) {
      const isOutside = storedRow(scene, request) !== undefined && status === 404
      this.#note(`read ${status}${isOutside ? ' outside' : ''}`)
    } else if (method === 'GET' && status === 200) {
      this.#note(body.includes('"objects":[]') ? 'empty list' : 'list with records')
      const isJoined = /__(?!(eq|ne|lte?|gte?|in|is|like)=)/.test(query)
      if (isJoined && !body.includes('"objects":[]')) this.#note('list through a foreign key')
      if (/"count":[1-9]/.test(body)) this.#note('list with a count')
      if (/search=[^&]/.test(query) && !body.includes('"objects":[]')) this.#note('search')
      if (pages > 0) this.#note('next page')
    }
  }

  /** Compares two answers byte for byte. Where a resource has a scope, no cache may keep the answer. */
  #same ({ resource }: Request, answer: Answer, expected: Answer): void {
    const { 'cache-control': cache, ...headers } = answer.headers
    const { 'cache-control': expectedCache, ...expectedHeaders } = expected.headers
    assert.deepEqual({ ...answer, headers }, { ...expected, headers: expectedHeaders })
    assert.equal(cache, resource.scopes === undefined ? expectedCache : 'no-store')
  }

  async #write (drawn: Request): Promise<void> {
    const before = this.#sceneOf(drawn)
    const translated = translate(before, drawn)
    const { asked, request, extra } = translated
    if (asked.method === 'POST') await this.#alignKeys(asked.resource.model)
    await this.#show(before, '', extra)
    const [answer, expected] = await Promise.all([
      this.#scoped.send(asked.sender, toInject(asked)), this.#plain.send(asked.sender, toInject(request))
    ])
    this.#logWrite(asked, answer)
    await this.#judge({ before, translated, answer, expected, ...await this.#rowsAfter() })
    if (answer.status >= 400) await this.#askWithMissing(before, asked, answer)
  }

  /**
   * Sends an update or a delete during which a record leaves the scope, between the statement that looks for the record
   * and the one that writes. It is answered as if the record had left before.
   */
  async #writeMeanwhile (drawn: Request, change: Change): Promise<void> {
    const first = this.#sceneOf(drawn)
    const { asked, request } = translate(first, drawn)
    const isDone = this.#scoped.changeBeforeSecond(change)
    const answer = await this.#scoped.send(asked.sender, toInject(asked))
    const before = isDone() ? { ...first, rows: withRow(first.rows, change.model, change.row) } : first
    this.#logWrite(asked, answer, isDone() ? JSON.stringify(change) : 'nothing meanwhile')
    const { extra, asked: again } = translate(before, asked)
    await this.#show(before, '', extra)
    const expected = await this.#plain.send(asked.sender, toInject(request))
    const rowsAfter = await this.#rowsAfter()
    if (!isDone() || again.body?.length !== asked.body?.length) return
    this.#note(`${asked.method} ${answer.status} meanwhile`)
    await this.#judge({ before, translated: { asked, request, extra }, answer, expected, ...rowsAfter })
  }

  async #rowsAfter (): Promise<Pick<Outcome, 'after' | 'plainAfter'>> {
    const [after, plainAfter] = await Promise.all([this.#scoped.rows(), this.#plain.rows()])
    this.#rows = after
    this.#shown = ''
    return { after, plainAfter }
  }

  #logWrite ({ sender, method, ...rest }: Request, { status }: Answer, meanwhile = ''): void {
    const url = urlOf({ sender, method, ...rest })
    this.log.push(`${sender} ${method} ${url} ${JSON.stringify(rest.body)} ${status} ${meanwhile}`)
  }

  async #alignKeys (model: number): Promise<void> {
    this.#lastKey += 10
    await Promise.all([this.#scoped, this.#plain].map(async (twin) => { await twin.skipTo(model, this.#lastKey) }))
  }

  async #judge (outcome: Outcome): Promise<void> {
    const { before, translated: { asked }, answer, after } = outcome
    this.#note(`${answer.status}`)
    this.#note(`${asked.method} ${answer.status}`)
    const isOutside = asked.id !== undefined && answer.status === 404 && storedRow(before, asked) !== undefined
    if (isOutside) this.#note(`${asked.method} 404 outside`)
    const rows = asked.method === 'DELETE' ? this.#judgeDelete(outcome) : this.#judgeValues(outcome)
    assert.deepEqual(sorted(after), sorted(rows), 'the rows behind the write')
  }

  /** Judges the answer to a delete. Returns the rows that must be left. */
  #judgeDelete ({ before, translated: { asked }, answer, expected }: Outcome): Rows {
    const { rows, mayBeRefused } = withoutRow(before, asked.resource.model, asked.id ?? null)
    const isRefused = answer.status === 409
    if (mayBeRefused && isRefused && expected.status === 204) this.#note('DELETE 409 for rows outside')
    // SQLite checks all references of a record that a delete sets to null, those that led outside as well.
    else if (!mayBeRefused && expected.status === 409) assert.deepEqual([answer.status, answer.body], [204, ''])
    else if (!mayBeRefused || isRefused === (expected.status === 409)) this.#same(asked, answer, expected)
    if (isRefused) assert.equal(codeOf(answer), 'REST_MODELS_STILL_REFERENCED')
    return answer.status === 204 ? rows : before.rows
  }

  /** Judges the answer to a create or an update. Returns the rows that must be there. */
  #judgeValues (outcome: Outcome): Rows {
    const { before, translated: { asked }, answer, expected, plainAfter } = outcome
    const { model } = asked.resource
    const isWritten = expected.status < 300
    const id = asked.id ?? (isWritten ? (JSON.parse(expected.body) as Row)['id'] ?? null : null)
    const result = (isWritten ? plainAfter[model]?.find((row) => row['id'] === id) : undefined) ?? guess(before, asked)
    const isOutside = !isInside(before.view[model] as ScopeSpec, result, withRow(before.rows, model, result))
    if (isTakenOutside(before, asked, answer, result)) {
      this.#note('409 for a value outside')
    } else if (isReferenceFirst(before, asked, answer, expected)) {
      this.#note('400 for a reference outside that another record has')
    } else if (isOutside && (isWritten || isDoubtful(expected, answer))) {
      this.#note(`${asked.method} would leave the scope`)
      assert.deepEqual([answer.status, codeOf(answer)], [403, 'REST_MODELS_FORBIDDEN'])
    } else {
      this.#same(asked, answer, translateBack(outcome))
      this.#noteValues(outcome)
    }
    return answer.status < 300 ? withRow(before.rows, model, { ...result, id: asked.id ?? idOf(answer) }) : before.rows
  }

  #noteValues ({ before, translated: { asked, request, renamed }, answer }: Outcome): void {
    const { method } = asked
    if (renamed !== undefined && answer.status === 400) this.#note('PUT 400 for a fixed field')
    const isStamped = JSON.stringify(request.body) !== JSON.stringify(asked.body)
    if (method === 'POST' && answer.status === 201 && isStamped) this.#note('POST 201 stamped')
    if (codeOf(answer) === 'REST_MODELS_UNKNOWN_REFERENCE' && outsideEntries(before, asked).length > 0) {
      this.#note(`${method} 400 for a reference outside`)
    }
  }

  /** A reference to a record outside the scope is refused as one to a record that does not exist. */
  async #askWithMissing (before: Scene, asked: Request, answer: Answer): Promise<void> {
    const [entry] = outsideEntries(before, asked)
    if (entry === undefined || translate(before, asked).renamed === entry[0]) return
    const { key, target = 0 } = fieldNamed(modelOf(before, asked), entry[0]) ?? {}
    if (isNamed(before, asked, key)) return
    const missing = unknownKey(before.world.models[target] as ModelSpec)
    const body = (asked.body as Body).map((other) => other === entry ? [entry[0], missing] as const : other)
    const other = await this.#scoped.send(asked.sender, toInject({ ...asked, body }))
    if (isTakenOutside(before, asked, answer, guess(before, asked))) return
    assert.deepEqual(other, answer, 'the answer for a reference that leads nowhere')
    this.#note('missing as outside')
    assert.deepEqual(await this.#scoped.rows(), this.#rows)
  }
}

/** A write, and what became of it. */
interface Outcome {
  readonly before: Scene
  readonly translated: Translated
  readonly answer: Answer
  /** The answer of the app without scopes. */
  readonly expected: Answer
  readonly after: Rows
  readonly plainAfter: Rows
}

function toInject (request: Request) {
  const { method, body } = request
  const payload = typeof body === 'string' ? body : body && JSON.stringify(Object.fromEntries(body))
  return {
    method,
    url: urlOf(request),
    ...(payload !== undefined && { payload, headers: { 'content-type': 'application/json' } })
  }
}

function codeOf ({ body }: Answer): unknown {
  return body === '' ? undefined : (JSON.parse(body) as { code?: unknown }).code
}

function idOf ({ body }: Answer): Value {
  return (JSON.parse(body) as Row)['id'] ?? null
}

/** Rows with one more, or with another in the place of the one with its key. */
function withRow (rows: Rows, model: number, row: Row): Rows {
  return rows.map((all, at) => at === model ? [...all.filter(({ id }) => id !== row['id']), row] : all)
}

function sorted (rows: Rows): Rows {
  return rows.map((all) => [...all].sort((one, other) => String(one['id']) < String(other['id']) ? -1 : 1))
}

/** True if the answer names values that only rows outside the scope have, and that may be named. */
function isTakenOutside (scene: Scene, asked: Request, answer: Answer, result: Row): boolean {
  if (codeOf(answer) !== 'REST_MODELS_NOT_UNIQUE') return false
  const { rows, view } = scene
  const { model } = asked.resource
  const { details } = JSON.parse(answer.body) as { details: ReadonlyArray<{ readonly field: string }> }
  const taken = (rows[model] ?? []).filter((row) =>
    row['id'] !== result['id'] && details.every(({ field }) => row[field] === result[field]))
  if (taken.length === 0 || taken.some((row) => isInside(view[model] as ScopeSpec, row, rows))) return false
  const outside = outsideKeys(scene, asked).filter((key) => !isNamed(scene, asked, key))
  assert(!names(answer, outside), `tells of rows behind a reference outside: ${answer.body}`)
  return true
}

/**
 * True if a reference outside the scope was refused, although the record would be taken as well. The app without scopes
 * looks for that first: what it has of the record that refers there is a reference that leads nowhere.
 */
function isReferenceFirst (scene: Scene, asked: Request, answer: Answer, expected: Answer): boolean {
  return codeOf(expected) === 'REST_MODELS_NOT_UNIQUE' && names(expected, outsideKeys(scene, asked)) &&
    codeOf(answer) === 'REST_MODELS_UNKNOWN_REFERENCE'
}

function names ({ body }: Answer, keys: readonly string[]): boolean {
  return keys.some((key) => body.includes(`"field":"${key}"`))
}

function outsideKeys (scene: Scene, asked: Request): readonly string[] {
  return outsideEntries(scene, asked).flatMap(([name]) => fieldNamed(modelOf(scene, asked), name)?.key ?? [])
}

/** True if the scope itself names the values that a field may have, whether or not there are such records. */
function isNamed ({ view }: Scene, { resource: { model } }: Request, key: string | undefined): boolean {
  return view[model]?.some(({ path, field }) => path.length === 0 && field.key === key) === true
}

/** True if a record that would lie outside was refused for that, although something else is wrong with it as well. */
function isDoubtful (expected: Answer, answer: Answer): boolean {
  const codes = ['REST_MODELS_UNKNOWN_REFERENCE', 'REST_MODELS_NOT_UNIQUE', 'REST_MODELS_CONSTRAINT']
  return answer.status === 403 && codes.includes(String(codeOf(expected)))
}

/** The references in a body to records outside the scope that the write would change. */
function outsideEntries (scene: Scene, asked: Request): Body {
  const model = modelOf(scene, asked)
  const stored = storedRow(scene, asked)
  return !Array.isArray(asked.body)
    ? []
    : (asked.body as Body).filter(([name, value]) => {
        const { kind, key = '', target = 0 } = fieldNamed(model, name) ?? {}
        const row = kind === 'foreignKey' ? scene.rows[target]?.find(({ id }) => id === value) : undefined
        return row !== undefined && stored?.[key] !== value &&
          !isInside(scene.view[target] as ScopeSpec, row, scene.rows)
      })
}

/** The answer of the app without scopes in the words of the one with them. */
function translateBack ({ translated: { asked, renamed }, answer, expected }: Outcome): Answer {
  let text = JSON.stringify(expected)
  if (renamed !== undefined) {
    const body = expected.body.replace("'id'", `'${renamed}'`).replace('"field":"id"', `"field":"${renamed}"`)
    const headers = { ...expected.headers, 'content-length': String(body.length) }
    text = JSON.stringify({ ...expected, body, headers })
  }
  if (asked.method === 'POST' && answer.status === 201 && expected.status === 201) {
    text = text.replaceAll(String(idOf(expected)), String(idOf(answer)))
  }
  return JSON.parse(text) as Answer
}

/** Statements of other engines are interleaved in the tests of races. */
const isSqlite = engine === 'sqlite'
