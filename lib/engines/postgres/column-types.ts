import pg from 'pg'

const { builtins } = pg.types
const asText = (text: string): string => text
const asSafeInteger = (text: string): number | string => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/**
 * Parsers by type: https://www.postgresql.org/docs/15/catalog-pg-type.html. Without them the driver makes local dates
 * of the first three types, and text of every bigint.
 */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.TIMESTAMP]: asText,
  [builtins.TIMESTAMPTZ]: asText,
  [builtins.DATE]: asText,
  [builtins.TIME]: asText,
  [builtins.INT8]: asSafeInteger
}

/** Parsers for the values of one pool. Other pools keep the parsers of the driver. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (type, format) => (format !== 'binary' && parsers[type]) || pg.types.getTypeParser(type, format)
}
