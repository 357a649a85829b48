import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { errors } from '../../errors.js'
import { checkCommand } from './check.js'
import type { CommandRow } from './command-row.js'
import { introspectCommand } from './introspect.js'
import { serveCommand } from './serve.js'
import { exitCodes, type ExitCode, type Terminal } from './terminal.js'

const commands: Readonly<Record<string, CommandRow>> = { introspect: introspectCommand, serve: serveCommand, check: checkCommand }

/**
 * Runs `fastify-rest-models`.
 *
 * @param words  what stands behind the program's name
 * @returns 0; 1 if it failed, or if a check that is strict found something; 2 if the words make no sense
 */
export async function runCommand (words: readonly string[], { out, err, interrupted }: Terminal): Promise<ExitCode> {
  const hide = secretsIn(words)
  const terminal: Terminal = { out: (text) => out(hide(text)), err: (text) => err(hide(text)), interrupted }
  let code: ExitCode = exitCodes.success
  const program = programFor(terminal, (end) => { code = exitCodes[end] })
  // Commander would repeat the word, which may hold a password.
  if (words[0]?.includes(':') === true) {
    terminal.err(`error: a command comes before the URL: ${Object.keys(commands).join(', ')}`)
    return exitCodes.usage
  }
  try {
    await program.parseAsync(words, { from: 'user' })
    return code
  } catch (error) {
    // Commander has said it already; asking for help is no mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage
    terminal.err(`error: ${messageOf(error)}`)
    return error instanceof errors.InvalidOptions ? exitCodes.usage : exitCodes.failure
  }
}

function programFor (terminal: Terminal, end: (how: keyof typeof exitCodes) => void): Command {
  const { version } = createRequire(import.meta.url)('fastify-rest-models/package.json') as { version: string }
  const program = new Command('fastify-rest-models')
    .description('Tools for REST APIs of data models: for databases that exist, and for apps before they go live.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text.trimEnd()), writeErr: (text) => terminal.err(text.trimEnd()) })
    .showHelpAfterError('Add --help for what there is.')
  for (const [name, { summary, argument, options, run }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary).description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
      .argument(`<${argument.name}>`, argument.description).copyInheritedSettings(program)
    for (const option of options) command.option(option.flags, option.description, option.default)
    command.action(async (value: string, given: object) => { end(await run(value, given as never, terminal)) })
  }
  return program
}

/** Of a word what may hold a password, to its end: a connection string, a name and password before a host, a URL. */
const secretParts = [/.*(?:password|passwd|pwd)=.*/is, /[^\s=]*:[^/\\].*@.*/s, /[a-z][a-z0-9+.-]*:\/\/.*/is]

/** Takes what may hold a password out of a text: no message repeats a URL, be it the wrong word in the wrong place, or behind `sqlite:`. */
function secretsIn (words: readonly string[]): (text: string) => string {
  const secrets = words.flatMap((word) => [word, word.replace(/^sqlite:/, '')]).flatMap((word) => secretParts.flatMap((part) => part.exec(word)?.[0] ?? []))
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '…'), text)
}

/** What failed, and what caused that; several attempts to connect are one error without words of its own. */
function messageOf (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`
}
