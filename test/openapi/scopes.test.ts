// @once: about the document, which no engine sees

import { test } from 'tap'
import { boolean, defineModel, foreignKey, hostAuth, password, text, userAuth, type Identity } from '../../lib/index.js'
import { documentedApp } from './documents.js'

const Company = defineModel('Company', { name: text() })
const Person = defineModel('Person', {
  username: text(), password: password(), active: boolean(), company: foreignKey(() => Company)
})
const Project = defineModel('Project', { company: foreignKey(() => Company), name: text() })

interface Member extends Identity { readonly company: number, readonly teams: readonly number[] }

test('fields that a scope fixes for a made-up user are not required in bodies', async (t) => {
  const members = hostAuth<Member>(() => null)
  const people = userAuth(Person, { fields: ['company'], protect: 'all' })
  const { document } = await documentedApp(t, {
    models: [Company, Person, Project],
    register: (registry) => {
      registry.register(Project, { auth: people, scope: ({ company }) => ({ company }) })
      registry.register(Project, { auth: members, path: 'ours', scope: (user) => ({ company_id: user!.company }) })
      registry.register(Project, { auth: members, path: 'some', scope: () => ({ company__ne: 1, company__name: 'a' }) })
      registry.register(Project, { auth: members, path: 'none', scope: () => ({ compny: 1, eq: 2 }) as never })
      registry.register(Project, {
        auth: members, path: 'failing', scope: (user) => ({ company: user!.teams.map((team) => team) })
      })
    }
  })
  const required = (name: string) => document.operation(`create${name}`).requestBody
    ?.content['application/json']?.schema.required
  t.strictSame(['Project', 'Ours', 'Some', 'None', 'Failing'].map(required), [
    ['name'], ['name'], ['company_id', 'name'], ['company_id', 'name'], ['company_id', 'name']
  ])
  t.match(document.operation('createProject').description, 'the server sets it: `company_id`.')
})

test('a field that a scope fixes for some users only is not required in bodies', async (t) => {
  const Employee = defineModel('Employee', {
    username: text(),
    password: password(),
    active: boolean(),
    admin: boolean(),
    company: foreignKey(() => Company),
    kind: text({ enum: ['staff', 'customer'] }),
    trusted: boolean()
  })
  const employees = userAuth(Employee, { fields: ['company', 'kind', 'trusted'], protect: 'all' })
  const open = { ...hostAuth<Member>(() => null), open: ['create' as const] }
  const { document } = await documentedApp(t, {
    models: [Company, Employee, Project],
    register: (registry) => {
      registry.register(Project, { auth: employees, scope: (user) => user.admin ? { name: 'a' } : {} })
      registry.register(Project, {
        auth: employees, path: 'kinds', scope: (user) => user.kind === 'customer' ? { company: user.company } : {}
      })
      registry.register(Project, {
        auth: employees, path: 'trusts', scope: (user) => user.trusted ? { name: 'a' } : { company: user.company }
      })
      registry.register(Project, { auth: open, path: 'open', scope: (user) => user === null ? { name: 'a' } : {} })
      registry.register(Project, {
        auth: hostAuth<Member>(() => null), path: 'read', scope: (user) => user === null ? { name: 'a' } : {}
      })
    }
  })
  const required = (name: string) => document.operation(`create${name}`).requestBody
    ?.content['application/json']?.schema.required
  t.strictSame(['Project', 'Kinds', 'Trusts', 'Open', 'Read'].map(required), [
    ['company_id'], ['name'], undefined, ['company_id'], ['company_id', 'name']
  ])
})

test('a field is required if a scope names several values for it, and not if it names a single one', async (t) => {
  const Task = defineModel('Task', { company: foreignKey(() => Company), done: text({ nullable: true }) })
  const scopes: readonly object[] = [
    { company: [1, 2] }, { company: [1] }, { company__in: [1, 2] }, { company__in: [1] },
    { company: 1, done__is: null }, { company: 1, done__is: ['notnull'] }, { company: null }
  ]
  const { document } = await documentedApp(t, {
    models: [Company, Task],
    register: (registry) => {
      for (const [index, scope] of scopes.entries()) {
        registry.register(Task, { auth: hostAuth(() => null), path: `tasks${index}`, scope: () => scope as never })
      }
    }
  })
  const operations = scopes.map((_scope, index) => document.operation(`createTasks${index}`))
  t.strictSame(operations.map(({ requestBody }) => requestBody?.content['application/json']?.schema.required), [
    ['company_id'], undefined, ['company_id'], undefined, undefined, undefined, ['company_id']
  ])
  const isSet = (key: string) => operations.map(({ description }) => String(description).includes(`\`${key}\``))
  t.strictSame(isSet('done'), [false, false, false, false, true, false, false])
})

test('a key that a scope names is required all the same: no scope fixes it', async (t) => {
  const Country = defineModel('Country', { id: text(), name: text() })
  const { document } = await documentedApp(t, {
    models: [Country],
    register: (registry) => {
      registry.register(Country, { auth: hostAuth(() => null), scope: () => ({ id: 'NZ', name: 'New Zealand' }) })
    }
  })
  const { requestBody, description } = document.operation('createCountry')
  t.strictSame(requestBody?.content['application/json']?.schema.required, ['id'])
  t.match(description, 'the server sets it: `name`.')
})

test('a field that is excluded is not named as one that the server sets', async (t) => {
  const { document } = await documentedApp(t, {
    models: [Company, Project],
    register: (registry) => {
      registry.register(Project, {
        auth: hostAuth(() => null),
        exclude: ['company'],
        readOnly: ['company'],
        scope: () => ({ company: 1, name: 'x' })
      })
    }
  })
  const { description } = document.operation('createProject')
  t.match(description, 'the server sets it: `name`.')
  t.notMatch(description, 'company')
})
