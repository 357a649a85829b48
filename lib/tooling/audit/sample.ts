import { kindDocumentation } from '../../fields/kind-documentation.js'
import type { Column } from '../../model/column.js'

/** Returns the text of a valid value for a filter by equality. */
export function sampleOf ({ target, kind, options }: Column): string {
  const { example } = kindDocumentation[target === undefined ? kind : target().primaryKey.kind]
  return String(example(options) ?? 'x')
}
