import type { Format } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { maxFormatLength } from '../lib/values/field-options.js'

/**
 * UTF-16 units of the longest text that a format tests; a character may take two units. Ajv lists all faults, so it
 * tests the format of a text even if the text is too long.
 */
const maxTestedUnits = 2 * maxFormatLength

const { source, flags } = fullFormats.url as RegExp
/**
 * Matches a URL in linear time. The expression of `ajv-formats` takes quadratic time: it tries each `:` as the end of
 * the user name, and looks for an `@` after each. The part `:password` is removed here. The same texts still match,
 * because the user name may hold any `:`. The expression accepts some white space in a host, although no host has any,
 * so `isUrl` refuses white space first.
 */
const urlPattern = new RegExp(source.replace(String.raw`\S+(?::\S*)?@`, String.raw`\S+@`), flags)
const isUrl = (text: string): boolean => !/\s/.test(text) && urlPattern.test(text)

/**
 * The formats of `ajv-formats`. A text of more than {@link maxTestedUnits} passes without being tested, because its
 * length is already a fault.
 */
export const formats: Readonly<Record<string, Format>> = Object.fromEntries(
  Object.entries<Format>({ ...fullFormats, url: isUrl }).map(([name, format]) => [name, withinLength(format)]))

function withinLength (format: Format): Format {
  const fits = testOf(format)
  return fits === undefined ? format : (text: string) => text.length > maxTestedUnits || fits(text)
}

/**
 * Returns a function that tests a text. Returns undefined if the format accepts every text, or is a format of numbers.
 */
function testOf (format: Format): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format
  return typeof format === 'object' && format.type !== 'number' ? testOf(format.validate as Format) : undefined
}
