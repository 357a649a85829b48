import type pg from 'pg'
import { driver } from './driver.js'

const asText = (text: string): string => text
const asSafeInteger = (text: string): number | string => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/**
 * Returns parsers for the values of one pool. They leave dates and times as texts, and make a number of a bigint if a
 * number holds it exactly, otherwise a text. Other pools keep the parsers of the driver, which make local `Date`
 * objects of dates and times, and a text of every bigint.
 *
 * @see https://www.postgresql.org/docs/15/catalog-pg-type.html
 */
export function columnTypes (): pg.CustomTypesConfig {
  const { builtins, getTypeParser } = driver().types
  const parsers: Readonly<Record<number, (text: string) => unknown>> = {
    [builtins.TIMESTAMP]: asText,
    [builtins.TIMESTAMPTZ]: asText,
    [builtins.DATE]: asText,
    [builtins.TIME]: asText,
    [builtins.INT8]: asSafeInteger
  }
  return { getTypeParser: (type, format) => (format !== 'binary' && parsers[type]) || getTypeParser(type, format) }
}
