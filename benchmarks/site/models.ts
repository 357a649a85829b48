import { boolean, datetime, defineModel, foreignKey, password, text } from 'fastify-rest-models'

export const User = defineModel('User', {
  username: text({ unique: true }),
  password: password(),
  email: text(),
  join_date: datetime({ default: 'now' }),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})

/** What a create adds in its transaction in the case of an outbox. */
export const Outbox = defineModel('Outbox', { topic: text(), body: text() })

export const Message = defineModel('Message', {
  user: foreignKey(() => User),
  content: text(),
  pub_date: datetime({ default: 'now' })
})

/** Refers to two other models, which lists may include. */
export const Comment = defineModel('Comment', {
  message: foreignKey(() => Message),
  user: foreignKey(() => User),
  content: text()
})
