// @alone: measures memory
// @long: sends lists for ten seconds

import { test } from 'tap'
import { measureShapes, toLine } from '../endurance/shapes-by-weight.js'
import { engine } from '../support/database.js'

test('T-108: lists of ever new shapes take memory neither here nor on the server, and end no process', async (t) => {
  const report = await measureShapes(t, { engine, folder: t.testdir(), shapes: 300, times: 2 })
  t.same(Object.keys(report.statuses), ['200'])
  t.ok(report.process < 25, `process: ${toLine(report)}`)
  t.ok(report.peak < 60, `at most: ${toLine(report)}`)
  t.ok(report.server < 40, `server: ${toLine(report)}`)
})
