import { labelsOf } from '../catalog.js'
import type { Storage } from '../storage.js'

/** Times of day as MariaDB writes them, up to its greatest one. */
const time = /^-?(?:\d\d|[1-8]\d\d):[0-5]\d:[0-5]\d(?:\.(\d+))?$/

/**
 * Returns the function that is true for a text in place of which a column would store another one, such as `1` for the
 * first label of a set.
 *
 * @param written  type of the column as SQL writes it: an enumeration, a set or a time
 */
export function alteredBy (written: string): NonNullable<Storage['alters']> {
  if (written.startsWith('time')) return (value) => !keepsTime(written, String(value))
  const labels = labelsOf(written)
  return written.startsWith('set')
    ? (value) => !keepsSet(labels, String(value))
    : (value) => !labels.includes(String(value))
}

function keepsTime (written: string, text: string): boolean {
  const { 0: isTime, 1: fraction = '' } = time.exec(text) ?? []
  const [digits = 0] = (written.match(/\d+/) ?? []).map(Number)
  return isTime !== undefined && fraction.length <= digits
}

/** True if a text names labels of a set, each once, in the order in which the type has them. */
function keepsSet (labels: readonly string[], text: string): boolean {
  if (text === '') return true
  const places = text.split(',').map((label) => labels.indexOf(label))
  return places.every((place, index) => place > (places[index - 1] ?? -1))
}
