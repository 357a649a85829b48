// @once: stands in for a server

import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { test } from 'tap'
import { defineModel, foreignKey, text } from '../../lib/index.js'
import { requireJoinable } from '../../lib/tables/joinable.js'

const Place = defineModel('Place', { id: text({ maxLength: 50 }) })
const Visit = defineModel('Visit', { place: foreignKey(() => Place), next: foreignKey(() => Place) })

/** A database of PostgreSQL that refuses each statement with an SQLSTATE. */
function refusing (code: string): Kysely<object> {
  const fail = async (): Promise<never> => {
    throw Object.assign(new Error('operator does not exist: text = uuid'), { code, severity: 'ERROR' })
  }
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => Object.assign(new DummyDriver(), {
        acquireConnection: async () => ({ executeQuery: fail, streamQuery: fail })
      }),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler()
    }
  })
}

test('D-284: each foreign key that cannot be compared is named, with the remedy', async (t) => {
  await t.rejects(requireJoinable(refusing('42883'), [Place, Visit]), {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: 'The database cannot compare these foreign keys with the keys that they refer to:\n' +
      "- field 'place' of model 'Visit' refers to model 'Place': operator does not exist: text = uuid\n" +
      "- field 'next' of model 'Visit' refers to model 'Place': operator does not exist: text = uuid\n" +
      'Give the column of each foreign key the type and the collation of the key'
  })
})

test('D-284: a foreign key to a table that the database user may not read is left to the grants', async (t) => {
  await t.resolves(requireJoinable(refusing('42501'), [Visit]))
})
