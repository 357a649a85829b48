// @once: about documents, which say the same of each engine
// @long: loads the linters of four projects

import SwaggerParser from '@apidevtools/swagger-parser'
import { lintFromString, createConfig } from '@redocly/openapi-core'
import { test, type Test } from 'tap'
import { buildSite } from '../../examples/site/app.js'
import { buildWorkspace } from '../../examples/workspace/app.js'

type Document = Parameters<typeof SwaggerParser.validate>[0]

for (const [name, build] of [['site', buildSite], ['workspace', buildWorkspace]] as const) {
  const documentOf = async (t: Test): Promise<string> => {
    const app = await build('sqlite::memory:')
    t.teardown(async () => { await app.close() })
    await app.ready()
    return JSON.stringify(app.swagger())
  }

  test(`D-178: Redocly finds no fault with the document of the ${name}, but the slashes of its paths`, async (t) => {
    const source = await documentOf(t)
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source, config })
    t.strictSame([...new Set(problems.map(({ ruleId }) => ruleId))], ['no-path-trailing-slash'])
  })

  test(`D-178: swagger-parser validates the document of the ${name} and follows its references`, async (t) => {
    const document = JSON.parse(await documentOf(t)) as Document
    await SwaggerParser.validate(structuredClone(document))
    t.notMatch(JSON.stringify(await SwaggerParser.dereference(document)), '"$ref"')
  })
}
