/** A command of a `console` block, and what the page says that it prints. */
export interface Command {
  readonly text: string
  readonly words: readonly string[]
  readonly printed: readonly string[]
}

/** The commands of a block: lines that begin with `$ `, each with the lines that follow it. */
export function commandsOf (content: string): Command[] {
  const commands: Array<{ text: string, printed: string[] }> = []
  for (const line of content.replaceAll(/\\\n\s*/g, '').split('\n')) {
    const last = commands.at(-1)
    if (line.startsWith('$ ')) commands.push({ text: line.slice(2), printed: [] })
    else if (last !== undefined) last.printed.push(line)
    else if (line !== '') throw new Error(`A console block begins with a command, not with: ${line}`)
  }
  return commands.map(({ text, printed }) => ({ text, words: wordsOf(text), printed: withoutEnd(printed) }))
}

function withoutEnd (lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}

/** What a command such as `TOKEN=$(curl http://…)` assigns: the output of `curl` to a variable. */
export function assignmentOf (
  { text }: Command
): { readonly name: string, readonly words: readonly string[] } | undefined {
  const [, name, command] = /^([A-Z]+)=\$\(curl (.*)\)$/.exec(text) ?? []
  return name === undefined || command === undefined ? undefined : { name, words: wordsOf(command) }
}

/** The words of a command, as a shell reads them: what stands in quotes is one, single quotes take all as it is. */
export function wordsOf (command: string): string[] {
  const words: string[] = []
  for (const [word] of command.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g)) {
    words.push(
      word.replaceAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (_, single?: string, double?: string, escaped?: string) =>
        single ?? escaped ?? String(double).replaceAll(/\\(["\\$`])/g, '$1'))
    )
  }
  return words
}
