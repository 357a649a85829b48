import { boolean, datetime, defineModel, foreignKey, password, text } from 'fastify-rest-models'

export const User = defineModel('User', {
  username: text({ unique: true, minLength: 1, maxLength: 80 }),
  password: password(),
  email: text(),
  join_date: datetime({ default: 'now' }),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})

export const Relationship = defineModel('Relationship', {
  from_user: foreignKey(() => User),
  to_user: foreignKey(() => User)
})

export const Message = defineModel('Message', {
  user: foreignKey(() => User),
  content: text(),
  pub_date: datetime({ default: 'now' })
})

export const Note = defineModel('Note', {
  message: text(),
  created: datetime({ default: 'now' })
})

export const models = [User, Relationship, Message, Note] as const
