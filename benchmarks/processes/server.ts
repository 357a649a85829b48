import type { Share } from '../servers/profiler.js'
import type { Question, ServerArguments, Usage } from '../servers/serve.js'
import { startChild } from './child.js'
import { compiledFile } from './compile.js'

/** A server under test. */
export interface Server {
  readonly url: string
  usage (): Promise<Usage>
  /** Profiles the server while something is done. */
  profile (doing: () => Promise<unknown>, count: number): Promise<readonly Share[]>
  end (): Promise<void>
}

/** Arguments of every server. */
type Given = 'database' | 'durability'

export interface ServerPlan extends Partial<Omit<ServerArguments, Given>>, Pick<ServerArguments, Given> {
  /** Name of its file. */
  readonly file: 'ours' | 'kysely' | 'many' | 'cluster' | `baseline-${string}`
  /** Folder of the commit that it is part of, if that is not this one. */
  readonly folder?: string | undefined
  readonly core: number | undefined
  /** Folder for a CPU profile, if one is wanted. */
  readonly profile?: string | undefined
}

export async function startServer ({ file, folder, core, profile, ...input }: ServerPlan): Promise<Server> {
  const nodeOptions = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${file}-${process.hrtime.bigint()}.cpuprofile`]
  const child = startChild(compiledFile(`servers/${file}`, folder), { input, nodeOptions, core })
  const { end } = child
  try {
    const { port } = await child.greeting as { port: number }
    const ask = async (question: Question): Promise<unknown> => await child.ask(question, 30)
    return {
      url: `http://127.0.0.1:${port}`,
      usage: async () => await ask({ ask: 'usage' }) as Usage,
      profile: async (doing, count) => {
        await ask({ ask: 'profile' })
        await doing()
        return await ask({ ask: 'functions', count }) as readonly Share[]
      },
      end
    }
  } catch (error) {
    await end()
    throw error
  }
}
