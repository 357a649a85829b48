// @once: looks at texts of statements, without a database

import { test } from 'tap'
import { controlsTransaction } from '../../lib/database/controls-transaction.js'
import { dialects } from '../../lib/database/dialects.js'

const ending = [
  'begin', 'BEGIN IMMEDIATE', 'start transaction', 'commit', 'end', 'end transaction', 'abort', 'rollback',
  "prepare transaction 'x'", 'select 1; commit', '  Rollback work'
]
const mariadbOnly = [
  'set autocommit = 1', "execute immediate 'start transaction'", "prepare s from 'rollback'", '/*!50000begin */'
]
const others = [
  'rollback to savepoint a', 'rollback work to a', "insert into task (state) values ('begin')", 'savepoint a',
  'select started, ending', 'update task set state = 1', "select 'a; commit'", 'create table task (id integer)'
]

for (const dialect of Object.values(dialects)) {
  test(`D-159: ${dialect.name}: a hook's statement that begins or ends a transaction is known by its text`, (t) => {
    for (const text of [...ending, ...dialect.name === 'mariadb' ? mariadbOnly : []]) {
      t.equal(controlsTransaction(text, dialect), true, text)
    }
    for (const text of others) t.equal(controlsTransaction(text, dialect), false, text)
    t.end()
  })
}
