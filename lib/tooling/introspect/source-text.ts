/**
 * Returns a value of JSON as source text in JavaScript. A text is in single quotes, or in double quotes if it has
 * quotes or needs a backslash.
 */
export function literal (value: unknown): string {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (isList) return `[${value.map(literal).join(', ')}]`
  // In an object literal, a key __proto__ without brackets sets the prototype. The pattern matches in no text, because
  // a quote within a text has a backslash.
  const quoted = JSON.stringify(value).replaceAll(/(?<=[{,])"__proto__":/g, '["__proto__"]:')
  return typeof value === 'string' && !/['\\]/.test(quoted) ? `'${quoted.slice(1, -1)}'` : quoted
}

/**
 * Returns a text with spaces in place of control characters. Names, types and defaults of a database may hold them: a
 * terminal would interpret them, and a line break would end a comment.
 */
export function inOneLine (text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
