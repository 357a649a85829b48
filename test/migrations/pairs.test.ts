// @servers: migrations are written in the SQL of the engine

import assert from 'node:assert/strict'
import Fastify from 'fastify'
import fc from 'fast-check'
import { sql, type Kysely } from 'kysely'
import { test } from 'tap'
import restModels, { createTables, openAuth, type Model } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { writeMigration } from '../../lib/tools.js'
import { Draw } from '../differential/draw.js'
import { drawRows, keyAt, type Row } from '../differential/rows.js'
import { columnOf, define, models, type ModelSpec } from '../differential/specs.js'
import { stored } from '../differential/values.js'
import { holds } from '../properties/holds.js'
import { emptyDatabase } from '../support/database.js'
import { definitions } from '../support/definitions.js'
import { columnsOf, drawForeign, drawPair } from './pairs.js'
import { importMigration } from './run-migration.js'

async function withDatabase (act: (db: Kysely<Tables>) => Promise<void>): Promise<void> {
  const { open, remove } = await emptyDatabase()
  const db = open()
  try {
    await act(db)
  } finally {
    await db.destroy()
    await remove()
  }
}

async function insert (
  db: Kysely<Tables>, specs: readonly ModelSpec[], rows: ReadonlyArray<readonly Row[]>
): Promise<void> {
  const value = (spec: ModelSpec['fields'][number], row: Row) => {
    const given = row[spec.name] ?? null
    return spec.target === undefined || given === null ? stored(spec, given) : keyAt(specs, spec.target, Number(given))
  }
  for (const [model, { table, fields }] of specs.entries()) {
    // References to rows that come later are set when these are there.
    const isLater = ({ target = -1 }: ModelSpec['fields'][number]): boolean => target >= model
    for (const [at, row] of (rows[model] ?? []).entries()) {
      const values = fields.map((field) => [columnOf(field), isLater(field) ? null : value(field, row)])
      await db.insertInto(table).values({ id: keyAt(specs, model, at), ...Object.fromEntries(values) }).execute()
    }
  }
  for (const [model, { table, fields }] of specs.entries()) {
    const later = fields.filter(({ target = -1 }) => target >= model)
    for (const [at, row] of (rows[model] ?? []).entries()) {
      if (later.length === 0) continue
      await db.updateTable(table).set(Object.fromEntries(later.map((field) => [columnOf(field), value(field, row)])))
        .where('id', '=', keyAt(specs, model, at)).execute()
    }
  }
}

/** Makes the tables of models, the rest of those that another program has begun by a migration. */
async function make (db: Kysely<Tables>, specs: readonly ModelSpec[], foreign: readonly string[]): Promise<void> {
  if (foreign.length === 0) return await createTables(db, define(specs))
  for (const statement of foreign) await sql.raw(statement).execute(db)
  const { source = '', differences } = await writeMigration(db, define(specs))
  assert.deepEqual(differences, [])
  await (await importMigration(source)).up(db)
}

/** What the old columns of all tables hold. */
async function contentOf (db: Kysely<Tables>, specs: readonly ModelSpec[]): Promise<string> {
  const all: unknown[] = []
  for (const spec of specs) {
    all.push(await db.selectFrom(spec.table).select([...columnsOf(spec)]).orderBy('id').execute())
  }
  return JSON.stringify(all, (_key, value: unknown) => typeof value === 'bigint' ? String(value) : value)
}

async function setUp (db: Kysely<Tables>, wanted: readonly Model[]): Promise<void> {
  const app = Fastify()
  await app.register(restModels, { db, defaultAuth: openAuth() })
  for (const model of wanted) app.restModels.register(model)
  await app.restModels.setup()
  await app.close()
}

test('after the migration setup() passes, no row is lost or changed, and down() undoes it', async (t) => {
  let written = 0
  await holds(t, 40, fc.asyncProperty(models, fc.gen(), fc.boolean(), async (specs, generate, isEmpty) => {
    const draw = new Draw(generate)
    const { old, wanted, both } = drawPair(draw, specs, !isEmpty)
    const rows = isEmpty ? [] : drawRows(draw, both)
    const foreign = draw.chance(60) ? drawForeign(draw, old) : []
    await withDatabase(async (db) => {
      await make(db, old, foreign)
      await insert(db, both, rows)
      const before = [await contentOf(db, old), await definitions(db)]
      const { source, differences } = await writeMigration(db, define(wanted))
      assert.deepEqual(differences, [])
      const migration = source === undefined ? undefined : await importMigration(source)
      await migration?.up(db)
      await setUp(db, define(wanted))
      assert.equal(await contentOf(db, old), before[0])
      assert.deepEqual(await writeMigration(db, define(wanted)), { source: undefined, differences: [] })
      await migration?.down(db)
      assert.deepEqual([await contentOf(db, old), await definitions(db)], before)
      if (source !== undefined) written++
    })
  }))
  t.ok(written > 0, `${written} migrations`)
})

test('from an empty database the migration makes the very tables that createTables() makes', async (t) => {
  await holds(t, 20, fc.asyncProperty(models, async (specs) => {
    let made: unknown
    await withDatabase(async (db) => {
      await createTables(db, define(specs))
      made = await definitions(db)
    })
    await withDatabase(async (db) => {
      const { source = '' } = await writeMigration(db, define(specs))
      const { up, down } = await importMigration(source)
      await up(db)
      assert.deepEqual(await definitions(db), made)
      await down(db)
      assert.deepEqual(await definitions(db), [])
    })
  }))
})
