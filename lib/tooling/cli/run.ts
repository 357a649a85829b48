import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { errors } from '../../errors.js'
import { checkCommand } from './check.js'
import type { CommandRow } from './command-row.js'
import { introspectCommand } from './introspect.js'
import { migrationCommand } from './migration.js'
import { serveCommand } from './serve.js'
import { exitCodes, type ExitCode, type Terminal } from './terminal.js'

const commands: Readonly<Record<string, CommandRow>> = {
  introspect: introspectCommand,
  serve: serveCommand,
  check: checkCommand,
  migration: migrationCommand
}

/**
 * Runs the command-line program `fastify-rest-models`. Its output shows `…` in place of URLs and other parts of the
 * arguments that match {@link secretPatterns}.
 *
 * @param words  the arguments after the program's name
 * @returns 0 on success; 1 if the command failed, or if a strict check found a danger; 2 if the arguments are wrong
 */
export async function runCommand (words: readonly string[], { out, err, interrupted }: Terminal): Promise<ExitCode> {
  const hide = secretsIn(words)
  const terminal: Terminal = { out: (text) => out(hide(text)), err: (text) => err(hide(text)), interrupted }
  let code: ExitCode = exitCodes.success
  const program = programFor(terminal, (end) => { code = exitCodes[end] })
  // Commander would repeat the first argument as an unknown command, and a URL may hold a password.
  if (words[0]?.includes(':') === true) {
    terminal.err(`error: put a command in front of the URL: ${Object.keys(commands).join(', ')}`)
    return exitCodes.usage
  }
  try {
    await program.parseAsync(words, { from: 'user' })
    return code
  } catch (error) {
    // Commander has already printed its message. Its code is 0 after --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage
    terminal.err(`error: ${fullMessageOf(error)}`)
    return error instanceof errors.InvalidOptions ? exitCodes.usage : exitCodes.failure
  }
}

function programFor (terminal: Terminal, end: (how: keyof typeof exitCodes) => void): Command {
  const { version }: { readonly version: string } = createRequire(import.meta.url)('fastify-rest-models/package.json')
  const program = new Command('fastify-rest-models')
    .description('Tools for REST APIs of data models: for databases that exist, and for apps before they go live.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(withoutUnknownValue(text.trimEnd()))
    })
    .showHelpAfterError('Add --help to see the commands and options.')
  for (const [name, { summary, arguments: wanted, options, run }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
      .copyInheritedSettings(program)
    for (const { name, description } of wanted) command.argument(`<${name}>`, description)
    for (const option of options) command.option(option.flags, option.description, option.default)
    if (options.some(({ flags }) => flags.includes('...'))) {
      command.configureOutput({ outputError: (text, write) => { write(withRemedy(text)) } })
    }
    command.action(async () => { end(await run(command.args, command.opts() as never, terminal)) })
  }
  return program
}

/**
 * Returns a message of commander with `…` in place of a text that may be a password. If the message is about an unknown
 * option, `…` replaces all that follows the letters and hyphens of its name: the misspelled `--pasword=secret` becomes
 * `--pasword…`. Returns any other message unchanged.
 */
function withoutUnknownValue (message: string): string {
  return message.replace(/(?<=^error: unknown option '[a-z-]*)[^a-z-'][^]*(?=')/i, '…')
}

/** Returns a message of commander. Adds the remedy if an option with several values may have taken the argument. */
function withRemedy (message: string): string {
  const remedy = 'give it before options with several values'
  return message.replace(/^error: missing required argument '[a-z-]*'/, `$&; ${remedy}`)
}

/**
 * Patterns for the part of an argument that may hold a password, up to the argument's end: a connection string, a name
 * and password before a host, a URL.
 */
const secretPatterns = [/.*(?:password|passwd|pwd)=.*/is, /[^\s=]*:[^/\\].*@.*/s, /[a-z][a-z0-9+.-]*:\/\/.*/is]

/**
 * Returns a function that replaces, in a text, every part of the arguments that may hold a password by `…`. So no
 * message repeats a URL, even if the user gave the URL as the wrong argument or after `sqlite:`.
 */
function secretsIn (words: readonly string[]): (text: string) => string {
  const secrets = words
    .flatMap((word) => [word, word.replace(/^sqlite:/, '')])
    .flatMap((word) => secretPatterns.flatMap((part) => part.exec(word)?.[0] ?? []))
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '…'), text)
}

/**
 * Returns the message of an error, followed by those of its causes. If several attempts to connect fail, Node throws
 * one error with an empty message; the function then returns the messages of the attempts.
 */
function fullMessageOf (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.message === '') return error.errors.map(fullMessageOf).join('; ')
  return error.cause === undefined ? error.message : `${error.message}: ${fullMessageOf(error.cause)}`
}
