import { boolean, date, datetime, decimal, defineModel, foreignKey, password, text, uuid } from 'fastify-rest-models'

export const Company = defineModel('Company', {
  name: text({ unique: true })
})

export const Member = defineModel('Member', {
  company: foreignKey(() => Company),
  username: text({ unique: true, minLength: 1, maxLength: 80 }),
  password: password(),
  full_name: text({ minLength: 1, maxLength: 120 }),
  role: text({ enum: ['member', 'manager'], default: 'member' }),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})

export const Project = defineModel('Project', {
  company: foreignKey(() => Company),
  name: text({ minLength: 1, maxLength: 80 }),
  budget: decimal({ precision: 12, scale: 2, nullable: true }),
  archived: boolean({ default: false })
}, { unique: [['company', 'name']] })

export const Task = defineModel('Task', {
  id: uuid({ clientGenerated: true }),
  project: foreignKey(() => Project),
  assignee: foreignKey(() => Member, { nullable: true, onDelete: 'set null' }),
  title: text({ minLength: 1, maxLength: 200 }),
  done: boolean({ default: false }),
  due: date({ nullable: true }),
  created_at: datetime({ default: 'now' }),
  updated_at: datetime({ default: 'now', onUpdate: 'now' })
})

export const Comment = defineModel('Comment', {
  task: foreignKey(() => Task, { onDelete: 'cascade' }),
  author: foreignKey(() => Member),
  text: text({ minLength: 1, maxLength: 2000 }),
  created_at: datetime({ default: 'now' })
})

export const Audit = defineModel('Audit', {
  company: foreignKey(() => Company, { onDelete: 'cascade' }),
  member: foreignKey(() => Member, { nullable: true, onDelete: 'set null' }),
  operation: text(),
  resource: text(),
  record: text(),
  at: datetime({ default: 'now' })
})

export const models = [Company, Member, Project, Task, Comment, Audit] as const
