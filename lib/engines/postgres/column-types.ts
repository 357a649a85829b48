import pg from 'pg'

const { builtins } = pg.types
const asText = (text: string): string => text
const asSafeInteger = (text: string): number | string => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** https://www.postgresql.org/docs/15/catalog-pg-type.html: the driver would make local dates of the first ones, and text of every bigint. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.TIMESTAMP]: asText,
  [builtins.TIMESTAMPTZ]: asText,
  [builtins.DATE]: asText,
  [builtins.TIME]: asText,
  [builtins.INT8]: asSafeInteger
}

/** How values of one pool are read from what the server sends; those of others stay as they are. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers[type]) || pg.types.getTypeParser(type, format as 'text')
}
