import { inheritedKind } from '../../engines/catalog.js'

/**
 * Remedy for a primary key that no model can have: a view that shows the key, even one of several columns, as one text.
 */
export const byView = 'define by hand a model of a view that shows the key as text'

/** Words about a name in the database that no model can use. */
export const oddName =
  'that does not consist of at most 60 letters from A to Z, digits and underscores, with no digit at its start'

/** Remedy for a table, or a key of it, whose name no model can use. */
export const renameTable = 'rename it, or define by hand a model of a view that gives it another name'

/** Remedy for a column whose name no field can use. */
export const renameColumn = 'rename it, or show it by a generated column or a view with another name'

/** Reasons why objects that are listed beside tables, such as views, have no model, with remedies, by their kind. */
const listedReasons: Readonly<Record<string, string>> = {
  view: "which tells no key; define its model by hand, with the key as 'id' or by the option 'key'",
  partition: 'and its rows are those of the table that it divides; read that table',
  [inheritedKind]: 'and their rows may have the same keys; define by hand a model of a view of the ' +
    "table alone, made by 'create view … as select * from only …'",
  sequence: 'which holds no records; to show its numbers, define by hand a model of a view of it'
}

/** Returns the reason why an object of another kind than a table, such as a view, has no model, and the remedy. */
export function whyNoTable (kind: string): string {
  return `is a ${kind}, ${listedReasons[kind] ?? 'which tells no key; define by hand a model of a view of it'}`
}

/** Note about a primary key that looks secret. */
export const secretKey = "is a primary key that looks secret: paths and links show it, and 'exclude' cannot hide it. " +
  'Do not serve the model, or define by hand a model of a view with another key'

/** Note about a primary key that the database computes from other columns, or that no create may contain. */
export const computedKey = 'is a key that the database computes, so that no record can be created: close creates in ' +
  "the policy, with closed: ['create']"

/** Note about an integer primary key that holds negative integers. */
export const negativeKey = 'holds negative integers, which are no keys of the API: lists show such records, but no ' +
  `path reaches them; ${byView}`

/** Returns the name of the table that a foreign key refers to, for a note. */
export function targetName ({ target }: { readonly target: string }): string {
  // The catalog does not name a table that is not found by its bare name.
  return target === '' ? 'a table of another schema' : `'${target}'`
}
