import fc from 'fast-check'
import { test } from 'tap'
import { bigint, date, datetime, decimal, defineModel, integer, number, text, userAuth, uuid } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { siteModels, User } from '../support/site.js'
import { attack, siteRows } from './security-helper.js'

const hostile = [
  "' OR '1'='1", "' or 1=1--", "' OR 1=1#", "' or ''='", '" or ""="', "') or ('1'='1", "'))/**/or/**/1=1--",
  "admin'--", "a' or 'a'='a", "1' ORDER BY 1--", "' GROUP BY password--", "' HAVING 1=1--",
  "' UNION SELECT password FROM user--", "' UNION ALL SELECT 1,2,3,4--", "'; DROP TABLE message;--",
  "'; DELETE FROM user WHERE 1=1;--", "'; UPDATE user SET admin=1;--", "'; INSERT INTO note VALUES (9,'x','y');--",
  "'; ATTACH DATABASE '/tmp/x' AS x;--", "'; PRAGMA writable_schema=1;--", "'; VACUUM;--",
  "'||(select password from user)||'", "' and (select 1)=1--", "' and substr((select password from user),1,1)='$'--",
  "' and unicode(substr(sqlite_version(),1,1))>0--", "' AND 1=load_extension('x')--", '$$ or 1=1 --', '$1', '?1',
  ':a', '@a', '?', '$tag$x$tag$', "\\' or 1=1--", '\\x27 or 1=1--', '\\', "\\\\' or 1=1--", '%27%20or%201=1--',
  '%2527', '\u2019 or 1=1--', '\u02bc or 1=1--', '\uff07 or 1=1--', '\u00bf\u0027 or 1=1', "\u0300' or 1=1",
  'x"; drop table "user', 'x`; drop table `user', ']--', '/*', '*/', '--', '#', ';', "''", "'", '"', '`', '(', ')',
  '((((((((', "1; exec xp_cmdshell('dir')", "'+(select 1)+'", '1e0', '0x41', "x' AND content LIKE '%", '%00\'',
  'null', 'NULL--', 'true', '{"$ne":null}', '[object Object]', '__proto__', 'constructor', '#{7*7}', '{{7*7}}',
  '<script>', '\r\nSet-Cookie: a=b', "waitfor delay '0:0:5'--", "' or sleep(5)='", "' or benchmark(1e9,md5(1))='",
  "'||pg_sleep(5)||'", "'; select pg_terminate_backend(pg_backend_pid())--",
  "' union select 1 into outfile '/tmp/x'#", "\\';drop table message#", "' /*!50000 or 1=1*/ #", "' or 1::text='1"
]
const escaped = (text: string) => encodeURIComponent(text)
const textOperators = ['', '__eq', '__gte', '__in', '__like', '__ilike']

test('T-16: text in a value stays a value', async (t) => {
  const { get, ids, statements, forget, unchanged } = await attack(t)
  const operators = ['', '__like']
  const generated = fc.sample(
    fc.string({ unit: fc.constantFrom(...'\'"`;-/*()= %_\\[]?$:@#|,orunionselect10'), minLength: 3, maxLength: 40 }),
    { numRuns: 80, seed: 16 }
  )
  const shapes = new Set<string | undefined>()
  await unchanged(async () => {
    for (const value of [...hostile, ...generated]) {
      for (const operator of operators) {
        forget()
        const reply = await get(`/api/message/?content${operator}=${escaped(value)}`)
        if (reply.statusCode === 200) {
          if (!/^[%_]*$/.test(value)) t.same(reply.json().objects, [], `${operator} ${value}`)
          t.equal(statements.length, 1)
          shapes.add(statements[0]?.sql)
        } else {
          t.equal(reply.statusCode, 400, `${operator} ${value}`)
        }
      }
    }
  })
  // On SQLite, patterns that begin with a wildcard have a statement of their own.
  const expected = operators.length + Number(engine === 'sqlite')
  t.same(shapes.size, expected, 'the SQL does not depend on the value')
  t.same(await ids('/api/message/?content=by%20bob'), [2])
})

test('T-16: hostile text is stored and found exactly', async (t) => {
  const { post, ids, rowsOf } = await attack(t)
  for (const value of hostile) {
    const { id } = (await post('/api/message/', { content: value }, { as: 'alice' })).json()
    t.same(await ids(`/api/message/?content=${escaped(value)}`), [id], value)
  }
  t.equal((await rowsOf('message')).length, hostile.length + 3)
  t.equal((await rowsOf('user')).length, 4)
})

test('T-17: text in a name stays a name', async (t) => {
  const { get, ids, statements, unchanged } = await attack(t)
  const names = [
    'content"--', 'content__like;drop', "content'", 'content)', 'content" or 1=1--', '1', 'rowid', '_rowid_', 'oid',
    't0.id', '*', 'content/**/', 'content,id', 'random()', '__proto__', 'constructor', 'toString', 'hasOwnProperty',
    '__defineGetter__', 'user__constructor', 'user____proto__', 'content__constructor', 'content__toString',
    'pg_catalog'
  ]
  await unchanged(async () => {
    for (const name of names) t.equal((await get(`/api/message/?${escaped(name)}=1`)).statusCode, 400, name)
    for (const ordering of [
      ...names, '(select password from user)', 'id;drop table user', 'id desc', 'case when 1 then id end', '1,2',
      'content collate nocase'
    ]) {
      if (ordering !== 'content,id') {
        t.equal((await get(`/api/message/?ordering=${escaped(ordering)}`)).statusCode, 400, ordering)
      }
    }
  })
  t.same(statements.filter(({ sql }) => !sql.startsWith('select * from')), [])
  t.same(await ids('/api/message/?ordering=content,id'), [3, 1, 2])
})

test('T-18: there are no operators but the ten', async (t) => {
  const { get } = await attack(t)
  const others = [
    'regexp', 'or', 'not', 'glob', 'match', 'contains', 'startswith', 'iexact', 'isnull', 'between', 'LIKE', 'Eq',
    '=', 'eq%20', 'raw', 'collate', 'notin', 'exists', 'nin', '$ne'
  ]
  for (const operator of others) t.equal((await get(`/api/message/?content__${operator}=1`)).statusCode, 400, operator)
  t.equal((await get('/api/message/?content__eq=1')).statusCode, 200)
})

test('T-19: no text makes the database wait', async (t) => {
  const { get } = await attack(t)
  const waits = [
    "';select pg_sleep(6)--", "' or randomblob(900000000)='",
    "' and 1=(with recursive c(x) as (select 1 union all select x+1 from c) select max(x) from c)--",
    "' or (select count(*) from user a,user b,user c,user d)>0--", "' or sleep(6)--", "'||zeroblob(900000000)||'"
  ]
  const start = performance.now()
  for (const wait of waits) {
    for (const operator of textOperators) {
      t.match((await get(`/api/message/?content${operator}=${escaped(wait)}`)).statusCode, /^[24]00$/)
    }
    await get(`/api/message/?ordering=${escaped(wait)}`)
  }
  t.ok(performance.now() - start < 4000)
})

test('T-20: limit and page are whole numbers', async (t) => {
  const { get, ids, statements } = await attack(t)
  const wrong = [
    '1;drop table user', '1--', '-1', '0', '00', '01', '+1', ' 1', '1 ', '1.0', '1e1', '0x1', '1,2', 'NaN',
    'Infinity', 'null', 'true', '', '[]', '\u0661', '1\n', '(select 1)', '9007199254740993', '1'.repeat(400)
  ]
  for (const value of wrong) {
    for (const name of ['limit', 'page']) {
      t.equal((await get(`/api/message/?${name}=${escaped(value)}`)).statusCode, 400, `${name}=${value}`)
    }
  }
  t.equal((await get('/api/message/?limit=1&limit=2')).statusCode, 400)
  t.equal(statements.length, 0)
  t.same(await ids('/api/message/?limit=1&page=2'), [2])
})

test('T-21: only single values reach the database', async (t) => {
  const { get, post, put, ids, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const value of [{ a: 1 }, ['a'], { length: 1 }, true, 1, [], {}, { toString: 'x' }]) {
      for (const field of ['content', 'pub_date']) {
        t.equal(
          (await post('/api/message/', { content: 'a', [field]: value }, { as: 'alice' })).statusCode, 400,
          `${field} ${JSON.stringify(value)}`
        )
        t.equal((await put('/api/message/1/', { [field]: value }, { as: 'alice' })).statusCode, 400)
      }
      t.equal(
        (await put('/api/user/2/', { active: typeof value === 'boolean' ? 'x' : value }, { as: 'admin' })).statusCode,
        400
      )
    }
    for (const query of ['content[$ne]=a', 'content[]=a', 'content[0]=a', 'content.a=b', 'content[like]=%25']) {
      t.equal((await get(`/api/message/?${query}`)).statusCode, 400, query)
    }
  })
  t.same(
    await ids('/api/message/?content=by%20alice&content=by%20bob'), [1, 2],
    'a repeated filter matches any of its values'
  )
})

test('T-22: text is never compared as a number', async (t) => {
  const { ids, post } = await attack(t)
  for (const value of ['0', '1', 'false', 'true', '0.0', '-0', '']) {
    t.same(await ids(`/api/user/?username=${value}`), [], value)
  }
  await post('/api/message/', { content: '0012' }, { as: 'alice' })
  for (const value of ['12', '12.0', '012']) t.same(await ids(`/api/message/?content=${value}`), [], value)
  t.same(await ids('/api/message/?content=0012'), [4])
})

test('T-23: an id is written in one way', async (t) => {
  const { get, delete: remove, put, unchanged } = await attack(t)
  const spellings = [
    '1abc', '1.0', '1e0', '0x1', '%2B1', '%201', '1%20', '01', '1%00', '-1', '1,2', '1;1', "1'", '1--', '%D9%A1',
    '%EF%BC%91', 'null', 'true', '[1]', '1%0A', '%09' + '1', '1_0', '0b1', 'id', '*', '1.', '.1'
  ]
  await unchanged(async () => {
    for (const id of spellings) {
      t.equal((await get(`/api/message/${id}/`)).statusCode, 404, id)
      t.equal((await put(`/api/message/${id}/`, { content: 'x' }, { as: 'alice' })).statusCode, 404, id)
      t.equal((await remove(`/api/message/${id}/`, { as: 'alice' })).statusCode, 404, id)
    }
  })
  t.equal((await get('/api/message/%31/')).json().id, 1, 'an escape of the same characters is the same id')
  t.equal((await remove('/api/message/1/', { as: 'alice' })).statusCode, 204)
})

test('T-24: numbers beyond what is exact never find another record', async (t) => {
  const rows = [...siteRows['message'] ?? [], {
    id: Number.MAX_SAFE_INTEGER, user_id: 2, content: 'last', pub_date: '2024-02-01 10:00:00'
  }]
  const { get, delete: remove, ids, unchanged } = await attack(t, { rows: { ...siteRows, message: rows } })
  const beyond = [
    '9007199254740992', '9007199254740993', '9223372036854775807', '9223372036854775808', '18446744073709551617',
    '1'.repeat(90)
  ]
  await unchanged(async () => {
    for (const id of beyond) {
      t.equal((await get(`/api/message/${id}/`)).statusCode, 404, id)
      t.equal((await remove(`/api/message/${id}/`, { as: 'alice' })).statusCode, 404)
      for (const name of ['id', 'id__in', 'id__gt', 'user', 'user__id']) {
        t.equal((await get(`/api/message/?${name}=${id}`)).statusCode, 400, name)
      }
      t.equal((await get(`/api/message/?id=-${id}`)).statusCode, 400)
    }
  })
  const endless = '9'.repeat(400)
  t.equal((await get(`/api/message/${endless}/`)).statusCode, 414, 'the router of Fastify bounds parameters of paths')
  t.equal((await get(`/api/message/?id=${endless}`)).statusCode, 400)
  t.same(await ids('/api/message/?id=9007199254740991'), [9007199254740991])
  t.equal((await get('/api/message/9007199254740991/')).json().content, 'last')
})

test('T-25: page times limit does not overflow', async (t) => {
  const { get } = await attack(t)
  for (const query of [
    'page=4611686018427387904&limit=2', 'page=999999999999999&limit=100', 'page=100002&limit=1', 'page=1002&limit=100'
  ]) {
    t.equal((await get(`/api/message/?${query}`)).statusCode, 400, query)
  }
  t.same((await get('/api/message/?page=1001&limit=100')).json(), {
    meta: { model: 'message', page: 1001, next: '', previous: '/api/message/?limit=100&page=1000' }, objects: []
  })
})

test('T-26: names are compared character by character', async (t) => {
  const { ids, put } = await attack(t)
  for (const name of ['ALICE', 'Alice', 'alice ', ' alice', 'álice', 'alic\u00e9', 'alice\t', 'a\u200blice', 'ａlice']) {
    t.same(await ids(`/api/user/?username=${escaped(name)}`), [], name)
    t.same(await ids(`/api/user/?username__in=${escaped(name)}`), [], name)
    t.equal((await put('/api/message/1/', {}, { as: [name, 'alice'] })).statusCode, 401, name)
  }
  t.same(await ids('/api/user/?username__in=alice'), [2])
  t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 200)
})

test('T-27: text with a NUL character is refused', async (t) => {
  const { get, post, put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const operator of textOperators) {
      t.equal((await get(`/api/message/?content${operator}=a%00`)).statusCode, 400, operator)
    }
    t.equal((await post('/api/message/', { content: 'a\0b' }, { as: 'alice' })).statusCode, 400)
    t.equal((await put('/api/message/1/', { content: '\0' }, { as: 'alice' })).statusCode, 400)
    t.equal((await post('/api/user/', { username: 'x', password: 'a\0b', email: '' }, { as: 'admin' })).statusCode, 400)
  })
  t.equal((await post('/api/message/', { content: 'a\u0001b' }, { as: 'alice' })).json().content, 'a\u0001b')
})

test('T-28: half a surrogate pair is refused', async (t) => {
  const { post, put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const half of ['a\\ud800b', '\\udc00', '\\udc00\\ud800', '\\uD83D']) {
      t.equal((await post('/api/message/', `{"content":"${half}"}`, { as: 'alice' })).statusCode, 400, half)
      t.equal((await put('/api/message/1/', `{"content":"${half}"}`, { as: 'alice' })).statusCode, 400, half)
    }
  })
  t.equal((await post('/api/message/', '{"content":"\\ud83d\\ude00"}', { as: 'alice' })).json().content, '\u{1f600}')
})

test('T-29: a body that is not valid UTF-8 is refused', async (t) => {
  const { post, unchanged } = await attack(t)
  const around = (...bytes: number[]) =>
    Buffer.concat([Buffer.from('{"content":"'), Buffer.from(bytes), Buffer.from('"}')])
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await unchanged(async () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80], [0x80]]) {
      t.equal((await post('/api/message/', around(...bytes), { as: 'alice' })).statusCode, 400, String(bytes))
      t.equal((await post(
        '/api/message/', Buffer.concat([Buffer.from('data='), around(...bytes)]), { as: 'alice', headers: form }
      )).statusCode, 400)
    }
    t.equal((await post('/api/message/', 'data={"content":"%ff"}', { as: 'alice', headers: form })).statusCode, 400)
  })
  t.equal((await post('/api/message/', around(0xe2, 0x82, 0xac), { as: 'alice' })).json().content, '€')
})

test('T-30: percent-encoding that is not valid is refused', async (t) => {
  const { get, post, ids } = await attack(t)
  for (const value of ['%ff', '%', '%4', '%zz', '%c3', '%c3%28', '%ed%a0%80', '%u0041', '%%']) {
    t.equal((await get(`/api/message/?content=${value}`)).statusCode, 400, value)
    t.equal((await get(`/api/message/?${value}=1`)).statusCode, 400, value)
    t.equal((await post(`/api/message/?${value}`, { content: 'a' }, { as: 'alice' })).statusCode, 400, value)
  }
  t.same(await ids('/api/message/?content=by%20%61lice'), [1])
})

const dates = [
  '0000-00-00', '2026-02-30', '2023-02-29', '1900-02-29', '99999-01-01', '0000-12-31', '-2024-01-01', '2024-13-01',
  '2024-00-10', '2024-01-32', 'now()', 'now', 'today', 'current_timestamp', '1704067200', '2024-1-1', '01/02/2024',
  '2024-01-01 24:00:00', '2024-01-01 10:60:00', '2024-01-01 10:00:60', '2024-01-01T10:00:00+99:00',
  '9999-12-31T23:59:59-01:00', '0001-01-01T00:00:00+01:00', ' 2024-01-01', '2024-01-01 ', '2024\u221201\u221201',
  '\u0662\u0660\u0662\u0664-01-01', ''
]

test('T-31: there is one calendar', async (t) => {
  const { get, post, put, unchanged, ids } = await attack(t)
  await unchanged(async () => {
    for (const date of dates) {
      t.equal((await get(`/api/message/?pub_date__gte=${escaped(date)}`)).statusCode, 400, date)
      t.equal((await post('/api/message/', { content: 'a', pub_date: date }, { as: 'alice' })).statusCode, 400, date)
      t.equal((await put('/api/message/1/', { pub_date: date }, { as: 'alice' })).statusCode, 400, date)
    }
  })
  for (const date of ['2024-02-29 23:59:59', '0001-01-01 00:00:00', '9999-12-31 23:59:59', '2000-02-29 00:00:00']) {
    t.equal((await put('/api/message/1/', { pub_date: date }, { as: 'alice' })).json().pub_date, date)
    t.same(await ids(`/api/message/?pub_date=${escaped(date)}`), [1])
  }
})

const Numbers = defineModel('Numbers', {
  small: integer({ default: 0 }),
  large: bigint({ default: '0' }),
  real: number({ default: 0 }),
  price: decimal({ default: '0.00' }),
  day: date({ default: 'now' }),
  mark: uuid({ default: '00000000-0000-0000-0000-000000000000' }),
  moment: datetime({ default: 'now' }),
  name: text({ default: '' })
})

test('T-32: numbers are those of JSON, within the range of their column', async (t) => {
  const { get, post, ids, unchanged } = await attack(t, {
    models: [...siteModels, Numbers], register: (registry) => registry.register(Numbers, { auth: userAuth(User) })
  })
  const never = [
    '1e400', 'NaN', 'Infinity', '-Infinity', '-0', '0x10', '\u0661\u0662', '1_000', '1,5', '', ' 1', '1 ', '.5', '5.',
    '+5', '--5', '1e', 'null', 'true', '0b1', '1n', '１', '½'
  ]
  const sameInJson = ['1', '1.0', '1e3']
  const alsoWrong = {
    small: ['2147483648', '1.0', '1e3'],
    large: ['9223372036854775808', '-9223372036854775809', '1.0', '1e3', '01'],
    real: ['01'],
    price: ['1.234', '1e3', '12345678901234', '01']
  }
  for (const [field, wrong] of Object.entries(alsoWrong)) {
    await unchanged(async () => {
      for (const value of [...never, ...wrong]) {
        t.equal((await get(`/api/numbers/?${field}=${escaped(value)}`)).statusCode, 400, `${field} ${value}`)
        t.equal((await post('/api/numbers/', { [field]: value }, { as: 'alice' })).statusCode, 400, `${field} ${value}`)
        if (!sameInJson.includes(value.trim())) {
          t.equal(
            (await post('/api/numbers/', `{"${field}":${value}}`, { as: 'alice' })).statusCode, 400,
            `${field} ${value}`
          )
        }
      }
    })
  }
  const fits = {
    small: -2147483648, large: '-9223372036854775808', real: 1.7976931348623157e308, price: '-1234567890123.45'
  }
  const { id } = (await post('/api/numbers/', fits, { as: 'alice' })).json()
  t.match((await get(`/api/numbers/${String(id)}/`)).json(), fits)
  for (const [field, value] of Object.entries(fits)) {
    t.same(await ids(`/api/numbers/?${field}=${escaped(String(value))}`), [id], field)
  }
})
