import type { FieldOptions } from '../../values/field-options.js'
import { cutTo, cutToBytes } from '../blanks.js'
import { labelsOf, readType } from '../described-types.js'
import type { Storage } from '../storage.js'

/** Bytes that columns of some types keep. */
const maxBytes = new Map([['tinytext', 255], ['text', 65_535], ['mediumtext', 16_777_215]])

/** Returns what refuses the texts that a column would cut; undefined if the field takes no such text. */
export function cutBy (written: string, options: FieldOptions): ReturnType<typeof cutTo> {
  const bytes = maxBytes.get(written)
  if (bytes !== undefined) return cutToBytes(bytes, options)
  const { digits: [length] } = readType('', written)
  return /^(?:var)?char\b/.test(written) && length !== undefined ? cutTo(length, options) : undefined
}

/** Matches a time as MariaDB writes it: with two or three digits for the hours, and maybe a minus or a fraction. */
const time = /^-?(?:\d\d|[1-8]\d\d):[0-5]\d:[0-5]\d(?:\.(\d+))?$/

/**
 * Returns the function that is true for a text that a column would change or refuse: in place of `1`, a set stores its
 * first label. Zeros that a column adds to the fraction of a time do not count as a change.
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
