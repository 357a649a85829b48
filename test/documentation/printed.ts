/**
 * Comparing what a page prints with what there is. In a page `…` stands for what is left out:
 * - alone in a line, for any lines;
 * - alone in brackets, `[…]`, for any list;
 * - elsewhere for any text without brackets and braces, so it hides no record and no end of one.
 * The time {@link now} stands for a time since the page was begun. A JSON text may be broken into lines, with any
 * indentation.
 */

/** In pages, the time at which the page is read. */
export const now = '2026-11-20 15:04:05'

const sentBy = (start: number) => (text: string): boolean => {
  const time = Date.parse(`${text.replace(' ', 'T')}Z`)
  return time >= start - 2000 && time <= Date.now() + 1000
}

/**
 * Whether a text is what a page prints.
 *
 * @param start  milliseconds since 1970: when the page was begun
 */
export function isPrinted (printed: string, actual: string, start: number): boolean {
  const match = new RegExp(`^${patternOf(printed)}$`, 's').exec(actual)
  return match !== null && match.slice(1).every(sentBy(start))
}

function patternOf (printed: string): string {
  return printed.split(/(\[…\]|…|2026-11-20 15:04:05)/).map((part) => special[part] ?? escape(part)).join('')
}

const special: Readonly<Record<string, string>> = {
  '[…]': '\\[.*\\]',
  '…': '[^{}[\\]\\n]*?',
  [now]: '(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d)'
}

function escape (text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** A printed JSON text in one line. */
export function joinLines (lines: readonly string[]): string {
  return lines.map((line) => line.trim()).join('')
}

/** Whether lines are those printed, of which `…` stands for any number. */
export function arePrintedLines (printed: readonly string[], actual: readonly string[], start: number): boolean {
  const [first, ...others] = printed
  if (first === undefined) return actual.length === 0
  if (first === '…') {
    return actual.some((_, index) => arePrintedLines(others, actual.slice(index), start)) || others.length === 0
  }
  const [line, ...rest] = actual
  return line !== undefined && isPrinted(first, line, start) && arePrintedLines(others, rest, start)
}
