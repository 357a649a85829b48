import Table from 'cli-table3'

/** Returns rows of texts as a table for a terminal: lines with aligned columns, a border and `head` at the top. */
export function textTable (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  // No colours and no lines between rows: both are noise if the output goes to a file.
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }
  })
  table.push(...rows.map((row) => [...row]))
  return table.toString()
}
