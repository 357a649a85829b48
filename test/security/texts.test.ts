// @servers: texts are stored and compared by the engine

import { test } from 'tap'
import { attack, bodyWays } from './security-helper.js'

const texts = [
  '', ' ', '  a  ', '\t', '\r\n', '\n', 'a\r\nb', '😀👨‍👩‍👧', 'שלום \u202eabc', '\u00e9', 'e\u0301', '\u212b',
  '\ufb01', 'null', 'None', 'NULL', 'True', 'true', 'False', '0', '0012', '1e3', '-0', '1.10', 'NaN', 'undefined',
  '2024-01-01', '2024-01-01T00:00:00Z', '\\', '\\n', '"', "'", '%', '_', '%00', '&amp;', '<b>', '+', 'a+b', 'a%20b',
  '\u2028\u2029', '\ufeff', '\ufffd', '\ufffe\uffff', '\u{10ffff}', '\u0001\u001f\u007f', '\u200b', 'ﷺ'.repeat(50),
  '[]', '{}', 'a,b', '"a,b"'
]

test('T-81: text is stored, given back and found as it was sent', async (t) => {
  const { post, put, get } = await attack(t)
  for (const [index, text] of texts.entries()) {
    for (const way of bodyWays) {
      const { payload, headers } = way(JSON.stringify({ content: text }))
      const created = (await post('/api/message/', payload, { as: 'alice', headers })).json()
      t.equal(created.content, text, `text ${index}`)
      t.equal((await get(`/api/message/${created.id}/`)).json().content, text)
      t.equal((await put(`/api/message/${created.id}/`, payload, { as: 'alice', headers })).json().content, text)
    }
    const { objects } = (await get(`/api/message/?content=${encodeURIComponent(text)}`)).json()
    t.equal(objects.length, texts.filter((other) => other === text).length * 3, `text ${index}`)
  }
})
