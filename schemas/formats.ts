import type { Format } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { maxFormatLength } from '../lib/values/field-options.js'

/** All that is wrong with a body is listed, so a format is asked about a text that is too long as well. A character may be two units. */
const maxUnits = 2 * maxFormatLength

/**
 * A URL in linear time. The expression of `ajv-formats` looks for a user's name before each `:`, behind each of which it looks for
 * an `@`; a name may hold any `:`, so it takes the same texts without that. No part but a host may hold white space, which is none.
 */
const { source, flags } = fullFormats.url as RegExp
const url = new RegExp(source.replace(String.raw`\S+(?::\S*)?@`, String.raw`\S+@`), flags)
const isUrl = (text: string): boolean => !/\s/.test(text) && url.test(text)

/** The formats of `ajv-formats`, none of which is asked about a text that is too long: its length is a fault already. */
export const formats: Readonly<Record<string, Format>> = Object.fromEntries(
  Object.entries<Format>({ ...fullFormats, url: isUrl }).map(([name, format]) => [name, withinLength(format)]))

function withinLength (format: Format): Format {
  const fits = testOf(format)
  return fits === undefined ? format : (text: string) => text.length > maxUnits || fits(text)
}

/** Whether a text is of a format; undefined if every text is, or it is one of numbers. */
function testOf (format: Format): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format
  return typeof format === 'object' && format.type !== 'number' ? testOf(format.validate as Format) : undefined
}
