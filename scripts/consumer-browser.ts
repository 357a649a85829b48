// What a page writes in TypeScript, where there are the types of browsers and none of Node; check-package.sh compiles
// it.
import { createClient, RestModelsError, type Field, type ForeignKeyField, type Model } from 'fastify-rest-models/client'

// What `typeof Message` is, where the sources of the server are not at hand.
type User = Model<'User', { username: Field<'text'> }>
type Message = Model<'Message', {
  user: ForeignKeyField<User>, content: Field<'text'>, pub_date: Field<'datetime', { default: 'now' }>
}>

const client = createClient<[Message]>({
  baseUrl: new URL('/shop', location.href), fetch: window.fetch.bind(window), token: 'secret'
})
const controller = new AbortController()
try {
  for await (const { id } of client.message.list(
    { content__in: ['a'], user__username: 'alice', pub_date__lt: new Date() }, { signal: controller.signal }
  )) {
    const key: number = id
    await client.message.update(key, { content: 'b' })
  }
} catch (error) {
  if (error instanceof RestModelsError && error.code === 'REST_MODELS_FORBIDDEN') document.title = error.message
}
// @ts-expect-error a field that the model does not have
await client.message.list({ nothing: 1 })
// @ts-expect-error a value of another kind
await client.message.create({ user_id: 1, content: 1 })
