// @once: reads the lock files

import { readFile } from 'node:fs/promises'
import { test } from 'tap'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}

interface Package {
  readonly scripts?: Readonly<Record<string, string>>
  readonly publishConfig?: Readonly<Record<string, unknown>>
}

const read = async <Content>(path: string): Promise<Content> =>
  JSON.parse(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')) as Content

/** What the lock file of a folder installs. */
async function lockedIn (folder: string): Promise<ReadonlyArray<readonly [path: string, locked: Locked]>> {
  const { packages } = await read<{ packages: Readonly<Record<string, Locked>> }>(`${folder}package-lock.json`)
  return Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
}

const folders = [
  '', 'scripts/sqlite-drivers/node20/', 'scripts/sqlite-drivers/node22/', 'test/mutation/', 'examples/admin/'
]

for (const folder of folders) {
  test(`what is installed in ${folder === '' ? 'the project' : folder} is locked to versions and bytes`, async (t) => {
    const locked = await lockedIn(folder)
    t.ok(locked.length > 0)
    t.same(
      locked.filter(([, { version, integrity }]) => version === undefined || integrity?.startsWith('sha512-') !== true)
        .map(([path]) => path),
      []
    )
  })
}

test('nothing that is installed runs a script, but the driver of SQLite and, for developers, esbuild', async (t) => {
  const running = await Promise.all(folders.map(async (folder) =>
    (await lockedIn(folder)).filter(([, { hasInstallScript }]) => hasInstallScript === true)))
  const names = running.flat()
    .map(([path, { dev }]) => `${path.replace(/^.*node_modules\//, '')}${dev === true ? ', for developers' : ''}`)
  t.same([...new Set(names)].sort(), ['better-sqlite3', 'esbuild, for developers'])
})

test('installing the package runs none of its scripts, and it is published with its provenance', async (t) => {
  const { scripts = {}, publishConfig } = await read<Package>('package.json')
  t.same(Object.keys(scripts).filter((name) => ['preinstall', 'install', 'postinstall'].includes(name)), [])
  t.same(publishConfig, { access: 'public', provenance: true })
})
