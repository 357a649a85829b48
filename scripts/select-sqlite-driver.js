// No one better-sqlite3 runs on every supported Node: 12 has to be compiled and aborts on Node 24, 13 crashes on Node
// 20. So package.json names none, and this links node_modules/better-sqlite3 to the one that fits, each with its own
// lock file. 13 brings its binaries along, but npm 10 would compile it all the same: it is installed without scripts.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const node = process.versions.node
const isOld = Number.parseInt(node) < 22
const scripts = dirname(fileURLToPath(import.meta.url))
const folder = join(scripts, 'sqlite-drivers', isOld ? 'node20' : 'node22')
const driver = join(folder, 'node_modules', 'better-sqlite3')
const binary = join(driver, isOld ? 'build/Release/better_sqlite3.node' : 'prebuilds')
const wanted = readJson(join(folder, 'package.json')).dependencies['better-sqlite3']

if (!isInstalled()) install()
link(join(scripts, '..', 'node_modules', 'better-sqlite3'))
console.log(`SQLite driver: better-sqlite3 ${wanted} for Node ${node}`)

function isInstalled () {
  return existsSync(binary) && readJson(join(driver, 'package.json')).version === wanted
}

function install () {
  if (isOld) console.log(`SQLite driver: compiling better-sqlite3 ${wanted}, about a minute`)
  npm(['ci', '--prefix', folder, `--ignore-scripts=${!isOld}`, '--no-audit', '--no-fund', '--loglevel=error'])
  if (!isInstalled()) throw new Error(`better-sqlite3 ${wanted} could not be installed in ${folder}`)
}

function npm (args) {
  const options = { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }
  const cli = process.env.npm_execpath
  if (cli?.endsWith('npm-cli.js')) execFileSync(process.execPath, [cli, ...args], options)
  else execFileSync('npm', args, { ...options, shell: process.platform === 'win32' })
}

function link (path) {
  if (existsSync(path) && realpathSync(path) === realpathSync(driver)) return
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { recursive: true, force: true })
  symlinkSync(relative(dirname(path), driver), path, 'junction')
}

function readJson (path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
