import type { Note } from './model-plan.js'
import { inOneLine } from './source-text.js'

/** Minimum number of notes with the same words that become one line. */
const minGroup = 3
/** Maximum number of names in one line. If there are more, the line says how many more. */
const maxNames = 10
/** Beginning of a note about a column that is left out. */
const leftOut = 'left out: it '
/** Beginning of a note about a table that is served, but without some or all writes. */
const closed = 'takes no '

/**
 * Returns a note as one line of text. A note without a column is about a table that is left out, or that refuses some
 * or all writes.
 */
export function describeNote ({ table, column, why }: Note): string {
  const text = column === undefined
    ? `Table '${table}' ${why.startsWith(closed) ? why : `is left out: it ${why}`}`
    : `Column '${column}' of table '${table}' ${why.startsWith(leftOut) ? `is ${why}` : why}`
  return inOneLine(text)
}

/** Returns a line of text for each note, but one line for three or more notes that differ only in names. */
export function describeNotes (notes: readonly Note[]): readonly string[] {
  const groups = new Map<string, Note[]>()
  for (const note of notes) {
    const name = `${note.column === undefined ? 'table' : 'column'} ${note.why}`
    groups.set(name, [...groups.get(name) ?? [], note])
  }
  return [...groups.values()].flatMap((group) =>
    group.length < minGroup ? group.map(describeNote) : describeGroup(group))
}

function describeGroup (notes: readonly Note[]): string {
  const [{ why, column } = { why: '', column: undefined }] = notes
  const names = notes.slice(0, maxNames).map(({ table, column }) => column === undefined ? table : `${table}.${column}`)
  const others = notes.length - names.length
  const list = `${names.map((name) => `'${name}'`).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
  if (column === undefined) {
    return inOneLine(`Tables ${list}${why.startsWith(closed) ? '' : ' are left out'}: each ${why}`)
  }
  return inOneLine(why.startsWith(leftOut)
    ? `Columns ${list} are left out: each ${why.slice(leftOut.length)}`
    : `Columns ${list}: each ${why}`)
}
