// @once: looks at texts of statements, without a database

import { test } from 'tap'
import { controlsTransaction } from '../../lib/database/controls-transaction.js'
import { dialects } from '../../lib/database/dialects.js'

const ending = [
  'begin', 'BEGIN IMMEDIATE', 'start transaction', 'commit', 'end', 'end transaction', 'abort', 'rollback',
  "prepare transaction 'x'", 'select 1; commit', '  Rollback work'
]
const mariadbOnly = [
  'set autocommit = 1', "execute immediate 'start transaction'", "prepare s from 'rollback'", '/*!50000begin */',
  'set @@session.`autocommit`=0', "execute immediate concat('com', 'mit')", "execute immediate '/**/commit'",
  'set statement max_statement_time=1 for commit', 'repeat commit; until 1 end repeat', 'lock tables log write',
  'flush tables', 'analyze table log', '/* a */ rename table a to b', 'drop table if exists nope', 'reset query cache',
  "set password = password('')", 'create or replace user a', "install soname 'x'", 'truncate log',
  'create or replace table t (id int)', 'alter table t add a int', 'grant select on t to a'
]
const others = [
  'rollback to savepoint a', 'rollback work to a', "insert into task (state) values ('begin')", 'savepoint a',
  'select started, ending', 'update task set state = 1', "select 'a; commit'",
  'create temporary table task (id integer)', 'create or replace temporary table task (id integer)',
  'drop temporary table task', 'set statement max_statement_time = 1 for select 1', "set @state = 'commit'",
  "set @note = 'autocommit = 1'",
  "insert into log values ('autocommit = 1')", 'replace into task values (1)', 'set session sort_buffer_size = 1000000'
]
const permittedByOthers = ['create table task (id integer)', 'drop table task', 'analyze', 'lock table task']

for (const dialect of Object.values(dialects)) {
  test(`D-159: ${dialect.name}: a hook's statement that begins or ends a transaction is known by its text`, (t) => {
    for (const text of [...ending, ...dialect.name === 'mariadb' ? mariadbOnly : []]) {
      t.equal(controlsTransaction(text, dialect), true, text)
    }
    for (const text of [...others, ...dialect.name === 'mariadb' ? [] : permittedByOthers]) {
      t.equal(controlsTransaction(text, dialect), false, text)
    }
    t.end()
  })
}
