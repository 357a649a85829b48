import { readFileSync } from 'node:fs'
import { DockerfileParser, type Instruction } from 'dockerfile-ast'
import { parse, parseAllDocuments } from 'yaml'

export const folder = 'examples/deployment'

export function read (name: string): string {
  return readFileSync(`${folder}/${name}`, 'utf8')
}

/** What the last stage of the Dockerfile does. */
export interface Image {
  readonly user: string
  /** Files of the folder that are copied into the working directory. */
  readonly files: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly ports: readonly string[]
  readonly healthcheck: readonly string[]
  readonly command: readonly string[]
}

export function readImage (): Image {
  const dockerfile = DockerfileParser.parse(read('Dockerfile'))
  const begin = dockerfile.getFROMs().at(-1)?.getRange().start.line ?? 0
  const stage = dockerfile.getInstructions().filter((each) => each.getRange().start.line >= begin)
  const all = (keyword: string): Instruction[] => stage.filter((each) => each.getKeyword() === keyword)
  const last = (keyword: string): string => textOf(all(keyword).at(-1))
  const copies = dockerfile.getCOPYs().filter((copy) => stage.includes(copy) && copy.getFromFlag() === null)
  return {
    user: last('USER'),
    files: copies.flatMap((copy) => textOf(copy).split(' ').slice(0, -1)),
    env: Object.fromEntries(all('ENV').flatMap((each) => textOf(each).split(' ').map((word) => pairOf(word)))),
    ports: all('EXPOSE').map(textOf),
    healthcheck: JSON.parse(last('HEALTHCHECK').replace(/^.*?CMD (?=\[)/, '')) as string[],
    command: JSON.parse(last('CMD')) as string[]
  }
}

/** The arguments of an instruction, on one line. */
function textOf (instruction: Instruction | undefined): string {
  return (instruction?.getArgumentsContent() ?? '').replaceAll(/\\\n\s*/g, '')
}

function pairOf (word: string): readonly [name: string, value: string] {
  const [name = '', ...value] = word.split('=')
  return [name, value.join('=')]
}

export interface Service {
  readonly build?: string
  readonly command?: unknown
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly stop_grace_period: string
}

export interface Compose {
  readonly services: Readonly<Record<'site' | 'postgres', Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

export function readCompose (): Compose {
  return parse(read('compose.yaml'), { strict: true }) as Compose
}

/** The settings of the unit by their names; systemd reads the last one of several. */
export function readUnit (): Readonly<Record<string, string>> {
  return Object.fromEntries(read('site.service').split('\n')
    .filter((line) => /^\w+=/.test(line)).map((line) => pairOf(line)))
}

export interface Probe {
  readonly httpGet: { readonly path: string, readonly port: string }
}

export interface Container {
  readonly image: string
  readonly ports: ReadonlyArray<{ readonly name: string, readonly containerPort: number }>
  readonly env: ReadonlyArray<{ readonly name: string }>
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly [string, string] } } }
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly containers: readonly [Container]
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: {
    readonly selector: Readonly<Record<string, unknown>>
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: PodSpec
    }
    readonly ports?: ReadonlyArray<{ readonly targetPort: string }>
  }
}

export function readManifests (): readonly Manifest[] {
  return parseAllDocuments(read('kubernetes.yaml')).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS() as Manifest
  })
}
