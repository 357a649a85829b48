import assert from 'node:assert/strict'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import restModels, { createTables, defineModel, foreignKey, text, type Model, type Policy } from '../../lib/index.js'
import { openDatabase } from '../support/database.js'
import { insert } from '../support/site.js'
import { share } from '../support/share.js'
import { holds } from './holds.js'

const Root = defineModel('Root', { word: text(), other: text() })
const Branch = defineModel('Branch', { word: text(), other: text(), root: foreignKey(() => Root) })
const Leaf = defineModel('Leaf', { word: text(), other: text(), branch: foreignKey(() => Branch) })
const People = defineModel('People', { name: text() })
const Others = defineModel('Others', { name: text() })

/** How many policies there are to choose from, so that several resources may share one. */
const count = 3

/**
 * A policy as it is drawn. Who shows the token of its realm is made out; policies of one login and one model of users
 * have one realm.
 */
interface Drawn {
  readonly list: 'open' | 'closed' | 'neither'
  readonly read: 'open' | 'closed' | 'neither'
  /** Whom it permits to list. */
  readonly permitted: 'all' | 'admins' | 'none'
  readonly login: 'none' | 'x' | 'y'
  readonly users: 'none' | 'people' | 'others'
}

const drawnPolicy = fc.record<Drawn>({
  list: fc.constantFrom('open', 'closed', 'neither', 'neither', 'neither'),
  read: fc.constantFrom('open', 'closed', 'neither'),
  permitted: fc.constantFrom('all', 'all', 'all', 'admins', 'none'),
  login: fc.constantFrom('none', 'none', 'x', 'x', 'y'),
  users: fc.constantFrom('none', 'people', 'people', 'people', 'others')
})

interface DrawnResource {
  readonly policy: number
  readonly hidesOther: boolean
}

const drawnResources = fc.array(fc.record<DrawnResource>({ policy: fc.nat(count - 1), hidesOther: fc.boolean() }), {
  minLength: 1, maxLength: 2
})
const site = fc.record({
  policies: fc.tuple(drawnPolicy, drawnPolicy, drawnPolicy),
  root: drawnResources,
  branch: drawnResources,
  leaf: drawnResources
})
type DrawnSite = typeof site extends fc.Arbitrary<infer Value> ? Value : never

/** Without a login a policy makes out people of its own. */
function realmOf ({ login, users }: Drawn, index: number): string {
  return login === 'none' || users === 'none' ? `policy-${index}` : `${login}-${users}`
}

function policyOf (drawn: Drawn, index: number): Policy {
  const operations = ['list', 'read'] as const
  const realm = realmOf(drawn, index)
  return {
    open: operations.filter((operation) => drawn[operation] === 'open'),
    closed: [...operations.filter((operation) => drawn[operation] === 'closed'), 'create', 'update', 'delete'],
    permits: ({ admin }) => drawn.permitted === 'all' || (drawn.permitted === 'admins' && admin),
    authenticator: () => async ({ headers }) => {
      const token = headers[`x-${realm}`]
      return token === undefined ? null : { id: 1, admin: token === 'admin' }
    },
    ...(drawn.users !== 'none' && { users: drawn.users === 'people' ? People : Others }),
    // Made anew: equal values are the same login.
    ...(drawn.login !== 'none' && { login: { of: drawn.login } })
  }
}

const models = { root: Root, branch: Branch, leaf: Leaf } as const
type Name = keyof typeof models

test('a filter through a join tells nobody more than the lists of the related resources', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [Root, Branch, Leaf, People, Others])
  await insert(db, {
    root: [{ id: 1, word: 'a', other: 'a' }],
    branch: [{ id: 1, word: 'a', other: 'a', root_id: 1 }],
    leaf: [{ id: 1, word: 'a', other: 'a', branch_id: 1 }],
    people: [{ id: 1, name: 'a' }],
    others: [{ id: 1, name: 'a' }]
  })
  const build = async ({ policies, ...resources }: DrawnSite): Promise<FastifyInstance> => {
    const app = Fastify()
    await app.register(restModels, { db })
    const made = policies.map(policyOf)
    for (const [name, model] of Object.entries<Model>(models)) {
      resources[name as Name].forEach(({ policy, hidesOther }, index) => app.restModels.register(model, {
        path: `${name}${index}`, auth: made[policy]!, exclude: hidesOther ? ['other'] : []
      }))
    }
    await app.restModels.setup()
    return app
  }
  const tally = { answered: 0, refused: 0 }
  const clients = fc.array(fc.record({ policy: fc.nat(count - 1), token: fc.constantFrom('user', 'admin') }), {
    minLength: 1, maxLength: 3
  })
  await holds(t, 200, fc.asyncProperty(site, clients, async (drawn, client) => {
    const app = await build(drawn)
    const headers = Object.fromEntries(
      client.map(({ policy, token }) => [`x-${realmOf(drawn.policies[policy]!, policy)}`, token])
    )
    const statusOf = async (url: string) => (await app.inject({ url, headers })).statusCode
    /** Whether the list of a model's first resource shows a field to this client. */
    const shows = async (name: Name, field: string) => {
      const hides = field === 'other' && drawn[name][0]?.hidesOther === true
      return !hides && await statusOf(`/api/${name}0/?limit=1`) === 200
    }
    try {
      const paths: ReadonlyArray<readonly [from: Name, through: readonly Name[], before: string]> =
        [
          ['branch', ['root'], 'root__'], ['leaf', ['branch'], 'branch__'],
          ['leaf', ['branch', 'root'], 'branch__root__']
        ]
      for (const [from, through, before] of paths) {
        for (const [index] of drawn[from].entries()) {
          const url = `/api/${from}${index}/`
          if (await statusOf(url) !== 200) continue
          for (const field of ['word', 'other']) {
            const answer = await app.inject({ url: `${url}?${before}${field}__like=%25`, headers })
            const areShown = []
            for (const [place, name] of through.entries()) {
              areShown.push(await shows(name, place === through.length - 1 ? field : 'id'))
            }
            const isShown = areShown.every(Boolean)
            assert.ok(
              answer.statusCode !== 200 || isShown,
              `${url}?${before}${field} is answered, but a list of ${through.join(' or ')} is not shown`
            )
            const realms = new Set([from, ...through].flatMap((name) =>
              drawn[name].map(({ policy }) => realmOf(drawn.policies[policy]!, policy))))
            // Where anybody may list, nobody is asked who he is.
            const isAnybody = drawn.policies[drawn[from][index]!.policy]!.list === 'open'
            assert.ok(
              answer.statusCode === 200 || !isShown || isAnybody || realms.size > 1,
              `${url}?${before}${field} is refused, but one login shows all lists`
            )
            tally[answer.statusCode === 200 ? 'answered' : 'refused']++
          }
        }
      }
    } finally {
      await app.close()
    }
  }))
  t.ok(tally.answered > 20 * share && tally.refused > 20 * share, `${JSON.stringify(tally)}: some of each`)
})
