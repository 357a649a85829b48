import type { LoadRequest } from './load/generate.js'
import type { Random } from './random.js'
import { contentOf, messageRows, someWord, userCount, usernameOf, userPassword } from './site/rows.js'

/** Makes requests to a site with a number of messages. */
export type RequestMaker = (random: Random, messages: number) => LoadRequest

const get = (path: string): LoadRequest => ({ method: 'GET', path })
const send = (method: 'POST' | 'PUT', path: string, body: object): LoadRequest =>
  ({ method, path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

const randomUser = (random: Random): number => 1 + random(userCount)

/** Ids of users who log in. They are few, so that each password has been checked once when the warm-up is over. */
const loggingIn = 20

function withCredentials (request: LoadRequest, user: number): LoadRequest {
  const authorization = `Basic ${Buffer.from(`${usernameOf(user)}:${userPassword}`).toString('base64')}`
  return { ...request, headers: { ...request.headers, authorization } }
}

export const read: RequestMaker = (random, messages) => get(`/api/message/${1 + random(messages)}/`)

export const list = (limit: number): RequestMaker => () => get(`/api/message/?limit=${limit}`)

/** Asks for comments with the message and the user of each. */
export const included: RequestMaker = () => get('/api/comment/?limit=20&include=message,user')

/** Asks for the page behind four fifths of the messages, by its number: page 4,000 of 100,000 messages. */
export const deepPage: RequestMaker = (_random, messages) => get(`/api/message/?limit=20&page=${Math.floor(messages * 0.8 / 20)}`)

/** Asks for the page behind four fifths of the messages, by a cursor: number of records before, ordering, last id. */
export const after: RequestMaker = (_random, messages) => {
  const cursor = Buffer.from(JSON.stringify([messages * 0.8, 'id', String(messages * 0.8)])).toString('base64url')
  return get(`/api/message/?limit=20&after=${cursor}`)
}

/** The same records by a filter. */
export const afterByFilter: RequestMaker = (_random, messages) => get(`/api/message/?limit=20&id__gt=${messages * 0.8}`)

export const ofUser: RequestMaker = (random) => get(`/api/message/?user__username=${usernameOf(randomUser(random))}&ordering=-pub_date`)

/** Asks for the messages of the user who is logged in, by a header that names the user. */
export const own: RequestMaker = (random) => ({ ...get('/api/message/?limit=20'), headers: { 'x-user': String(randomUser(random)) } })

export const search: RequestMaker = (random, messages) => get(
  `/api/message/?user__username=${usernameOf(randomUser(random))}&user__active=true&id__gte=${1 + random(messages / 10)}&id__lt=${messages}` +
  `&pub_date__gte=${encodeURIComponent('2023-03-01 00:00:00')}&content__ilike=${encodeURIComponent(`%${someWord(random)}%`)}`)

export const create: RequestMaker = (random) => send('POST', '/api/message/', { user_id: randomUser(random), content: contentOf(random) })

export const createAsUser: RequestMaker = (random, messages) => withCredentials(create(random, messages), 1 + random(loggingIn))

export const update: RequestMaker = (random, messages) => {
  const [id = 1, user = 1] = ownedBy(messages)[random(ownedBy(messages).length)] ?? []
  return withCredentials(send('PUT', `/api/message/${id}/`, { content: contentOf(random) }), user)
}

const owned = new Map<number, ReadonlyArray<readonly [id: number, user: number]>>()

/** The messages of the users who log in. */
function ownedBy (messages: number): ReadonlyArray<readonly [id: number, user: number]> {
  const known = owned.get(messages)
  if (known !== undefined) return known
  const found = [...messageRows(messages)].map((row, index) => [index + 1, row.user_id] as const).filter(([, user]) => user <= loggingIn)
  owned.set(messages, found)
  return found
}

/** Requests of all kinds that need no credentials. */
export const mixture: RequestMaker = (random, messages) => {
  const makers = [read, read, read, list(20), list(100), ofUser, search, create]
  return (makers[random(makers.length)] ?? read)(random, messages)
}
