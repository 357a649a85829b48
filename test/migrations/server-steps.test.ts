// @once: writes the steps for servers without one

import { test } from 'tap'
import { dialects } from '../../lib/database/dialects.js'
import { defineModel, foreignKey, integer, text, type Model } from '../../lib/index.js'
import { ExistingParts } from '../../lib/tables/existing-parts.js'
import type { MigrationPlan } from '../../lib/tables/plan-migration.js'
import { planTables } from '../../lib/tables/plan-tables.js'
import { indexesOf } from '../../lib/tables/table.js'
import { writeDown, writeUp } from '../../lib/tables/write-steps.js'
import { SchemaRecorder } from '../../lib/tooling/migration/schema-recorder.js'
import { compilers } from '../support/compilers.js'

const Team: Model = defineModel('Team', { name: text(), captain: foreignKey(() => Player, { nullable: true }) })
const Player: Model = defineModel('Player', { team: foreignKey(() => Team) })
const Note = defineModel('Note', {
  state: text({ enum: ['a', "it's"], default: 'a' }), rank: integer({ unique: true }), team: foreignKey(() => Team)
})

/** A new pair of tables that refer to each other, and a table that lacks everything but its key. */
async function stepsFor (name: keyof typeof compilers): Promise<{ up: readonly string[], down: readonly string[] }> {
  const dialect = dialects[name]
  const [, ...columns] = Note.columns
  const plan: MigrationPlan = {
    tables: planTables([Team, Player], dialect),
    changes: [{ model: Note, columns, unique: [columns.slice(1, 2)], indexes: indexesOf(Note, dialect) }],
    storages: new Map(),
    differences: []
  }
  const up = new SchemaRecorder(compilers[name])
  const down = new SchemaRecorder(compilers[name])
  await writeUp(up, plan, dialect)
  await writeDown(down, plan, dialect)
  return { up: up.statements, down: down.statements }
}

test('foreign keys of circles and of added columns come last, and go first', async (t) => {
  const { up, down } = await stepsFor('postgres')
  const circle = "await schema.alterTable('team')\n  .addForeignKeyConstraint('team__captain_id__reference', " +
    "['captain_id'], 'player', ['id'])\n  .onDelete('no action')\n  .execute()"
  t.ok(up.includes(circle), up.join('\n'))
  t.equal(up.at(-1), "await schema.alterTable('note')\n  .addForeignKeyConstraint('note__team_id__reference', " +
    "['team_id'], 'team', ['id'])\n  .onDelete('no action')\n  .execute()")
  t.equal(up[0], "await requireEmpty(db, 'note', 'rank')")
  const check = '.defaultTo(sql`\'a\'`).check(sql`"state" in (\'a\', \'it\'\'s\')`)'
  t.ok(up.some((step) => step.includes(check)), up.join('\n'))
  t.strictSame(down, [
    "await schema.alterTable('note').dropConstraint('note__team_id__reference').execute()",
    "await schema.dropIndex('note__team_id__index').execute()",
    "await schema.dropIndex('note__rank__unique').execute()",
    "await schema.alterTable('note').dropColumn('team_id').execute()",
    "await schema.alterTable('note').dropColumn('rank').execute()",
    "await schema.alterTable('note').dropColumn('state').execute()",
    "await schema.alterTable('team').dropConstraint('team__captain_id__reference').execute()",
    "await schema.dropTable('player').execute()",
    "await schema.dropTable('team').execute()"
  ])
})

test('on MariaDB names in backticks stand in texts, and what is dropped is named in its words', async (t) => {
  const { up, down } = await stepsFor('mariadb')
  t.ok(up.some((step) => step.includes('.check(sql.raw("`state` in (\'a\', \'it\'\'s\')"))')), up.join('\n'))
  t.strictSame(down.slice(0, 2), [
    "await sql.raw('alter table `note` drop foreign key `note__team_id__reference`').execute(db)",
    "await schema.dropIndex('note__team_id__index').on('note').execute()"
  ])
})

test('D-216: the index that MariaDB made for a foreign key is there again before its successor goes', async (t) => {
  const Mark = defineModel('Note', { rank: integer(), team: foreignKey(() => Team) }, { unique: [['team', 'rank']] })
  const columns = new Map([['id', 'bigint'], ['rank', 'int'], ['team_id', 'bigint']])
  const parts = { columns, unique: new Set<string>(), stored: new Set<string>() }
  const existing = new ExistingParts(dialects.mariadb, { ...parts, indexed: new Set(['rank', 'team_id']) }, [
    { key: 'mine', column: 'TEAM_ID' }, { key: 'other', column: 'rank' },
    { key: 'pair', column: 'team_id' }, { key: 'pair', column: 'id' }
  ])
  const change = { model: Mark, ...existing.add(Mark, Mark.columns) }
  t.match(change, { columns: [], indexes: [], unique: [{ length: 2 }] })
  const down = new SchemaRecorder(compilers.mariadb)
  const tables = planTables([], dialects.mariadb)
  await writeDown(down, { tables, changes: [change], storages: new Map(), differences: [] }, dialects.mariadb)
  t.strictSame(down.statements, [
    '// MariaDB drops the index that it made for a foreign key when another one serves the foreign key.',
    "await schema.createIndex('mine').ifNotExists().on('note').columns(['TEAM_ID']).execute()",
    "await schema.dropIndex('note__team_id__rank__unique').on('note').execute()"
  ])
})
