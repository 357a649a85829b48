/**
 * Returns a text, a number, a boolean or a list of texts as JavaScript. A text is in single quotes, or in double quotes
 * if it has quotes or needs a backslash.
 */
export function literal (value: unknown): string {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (isList) return `[${value.map(literal).join(', ')}]`
  const quoted = JSON.stringify(value)
  return typeof value === 'string' && !/['\\]/.test(quoted) ? `'${quoted.slice(1, -1)}'` : quoted
}

/**
 * Returns a text with spaces in place of control characters. Names, types and defaults of a database may hold them: a
 * terminal would interpret them, and a line break would end a comment.
 */
export function inOneLine (text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
