import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { anyOf } from '../any-of.js'
import type { Parameter, ShownCondition, WrittenColumn } from '../storage.js'

type Text = RawBuilder<unknown>
type Kind = 'datetime' | 'date'

/** GLOB patterns of the texts that the API and the defaults of createTables() write. */
const ownPatterns: Readonly<Record<Kind, string>> = { datetime: '????-??-?? ??:??:??', date: '????-??-??' }

/**
 * Returns a condition that is true if a text does not have the form that the API writes, so that another program wrote
 * it.
 */
export function isOtherForm (column: Expression<unknown>, kind: Kind): RawBuilder<SqlBool> {
  return sql<SqlBool>`${column} not glob ${sql.lit(ownPatterns[kind])}`
}

const digits = sql.lit('0123456789')

/**
 * Returns SQL of what records show of a stored text: the moment in UTC, cut to `length` characters, if the text is a
 * moment; otherwise the text itself. The SQL reads the same texts as `datetime()` of lib/values/values.ts, such as
 * those of ISO 8601, also with a space before the offset. SQLite's function `datetime()` is not enough: it also reads
 * other texts, rounds fractions, and takes the 31st of February for a day in March.
 */
function momentOf (text: Text, length: number): Text {
  return sql`coalesce((
    select case when _moment >= '0001' then substr(_moment, 1, ${sql.lit(length)}) end from (select case
    when _time >= '24' or datetime(_day || ' ' || _time) is not _day || ' ' || _time then null
    when _zone in ('', 'Z', 'z') then _day || ' ' || _time
    when substr(_zone, 2, 2) < '24'
      and (_zone glob '[+-][0-9][0-9]:[0-5][0-9]' or _zone glob '[+-][0-9][0-9][0-5][0-9]'
        or _zone glob '[+-][0-9][0-9]')
      then datetime(_day || ' ' || _time, case substr(_zone, 1, 1) when '+' then '-' else '+' end
        || substr(_zone, 2, 2) || ':' || case length(_zone) when 3 then '00' else substr(_zone, -2) end)
    end as _moment
    from (select _day, _time, replace(replace(case
      when _hasSeconds and substr(_rest, 1, 1) in ('.', ',')
        and length(_rest) - 1 - length(ltrim(substr(_rest, 2), ${digits})) between 1 and 9
        then ltrim(substr(_rest, 2), ${digits}) else _rest end, ' +', '+'), ' -', '-') as _zone
      from (select substr(${text}, 1, 10) as _day, substr(${text}, 17, 1) = ':' as _hasSeconds,
        case when length(${text}) = 10 then '00:00:00'
          when substr(${text}, 11, 1) not in (' ', 'T', 't') then null
          when substr(${text}, 17, 1) = ':' then substr(${text}, 12, 8)
          else substr(${text}, 12, 5) || ':00' end as _time,
        case when length(${text}) = 10 then ''
          when substr(${text}, 17, 1) = ':' then substr(${text}, 20)
          else substr(${text}, 17) end as _rest)))), ${text})`
}

/** Returns SQL of what records show of a column. Texts in the form of the API are shown as they are. */
function shownOf (column: Text, kind: Kind): Text {
  return sql`case when ${isOtherForm(column, kind)} and ${column} glob '[0-9][0-9][0-9][0-9]-*'
    then ${momentOf(column, ownPatterns[kind].length)} else ${column} end`
}

type Value = Parameter | Text

/** Bounds of the stored texts that records may show as a given moment or date. */
interface Bounds {
  earliest (value: Value): Text
  latest (value: Value): Text
  /**
   * Returns SQL for a condition on what records show, to be used beside conditions on `earliest` and `latest`. If these
   * select exactly, because the column has no texts of another form, the SQL is true without testing the condition.
   */
  exactly (condition: RawBuilder<SqlBool>): RawBuilder<SqlBool>
}

/**
 * Bounds of any stored text of a moment. The date in the text is at most one day from the date in UTC, because an
 * offset has less than 24 hours.
 */
const wideBounds: Bounds = {
  earliest: (value) => sql`strftime('%Y-%m-%d %H:%M', ${value}, '-1 day')`,
  // SQLite has no day after 9999-12-31, but ':' sorts after every digit.
  latest: (value) => sql`coalesce(date(${value}, '+2 days'), ':')`,
  exactly: (condition) => condition
}

/**
 * Returns bounds that ask an index whether another program wrote texts of another form to the column. If none did, the
 * bounds are the value itself, and decide alone. Otherwise they are {@link wideBounds}.
 */
function indexedBounds ({ table, name }: WrittenColumn): Bounds {
  const isForeignText = isOtherForm(sql.ref(name), 'datetime')
  const hasForeign = sql<SqlBool>`exists (select 1 from ${sql.table(table)} where ${isForeignText})`
  return {
    earliest: (value) => sql`case when ${hasForeign} then ${wideBounds.earliest(value)} else ${value} end`,
    latest: (value) => sql`case when ${hasForeign} then ${wideBounds.latest(value)} else ${value} end`,
    exactly: (condition) => sql<SqlBool>`(not ${hasForeign} or ${condition})`
  }
}

/**
 * Returns conditions that compare moments, or dates, by what records show, even if another program stored them in
 * another form than the API. Except for `ne`, each condition also tests the stored texts, so that an index serves. A
 * text in another form must then meet a second condition, on what records show.
 *
 * @param guard  the column, if it has an index that finds the texts of another form at once; otherwise absent
 */
export function asShown (kind: Kind, guard?: WrittenColumn): ShownCondition {
  const bounds = guard === undefined ? wideBounds : indexedBounds(guard)
  const compare = comparisonsWithin(bounds)
  return (column, operator, values) => {
    const shown = shownOf(column, kind)
    if (operator === 'ne') return sql<SqlBool>`${shown} not in (${sql.join(values)})`
    if (operator !== 'eq' && operator !== 'in') {
      return anyOf(values.map((value) => compare[operator](column, shown, value)))
    }
    const isListed = sql<SqlBool>`${shown} in (${sql.join(values)})`
    const [value = null, ...others] = values
    if (others.length === 0) {
      const { earliest, latest, exactly } = bounds
      return sql<SqlBool>`(${column} >= ${earliest(value)} and ${column} <= ${latest(value)} and ${exactly(isListed)})`
    }
    // A range for each value would be tested in turn for each row, and would keep an index from serving.
    const isListedForeign = sql`${isOtherForm(column, kind)} and ${isNear(column, values)} and ${isListed}`
    return sql<SqlBool>`(${column} in (${sql.join(values)}) or (${isListedForeign}))`
  }
}

type Compare = (column: Text, shown: Text, value: Parameter) => RawBuilder<SqlBool>

/** Returns the conditions of comparisons. Each tests the stored text first, for which an index can serve. */
function comparisonsWithin ({ earliest, latest, exactly }: Bounds): Record<'lt' | 'lte' | 'gt' | 'gte', Compare> {
  const compare = (symbol: Text, bound: (value: Value) => Text): Compare => (column, shown, value) =>
    sql<SqlBool>`${column} ${symbol} ${bound(value)} and ${exactly(sql`${shown} ${symbol} ${value}`)}`
  return {
    lt: compare(sql`<`, latest),
    lte: compare(sql`<=`, latest),
    gt: compare(sql`>`, earliest),
    gte: compare(sql`>=`, earliest)
  }
}

/**
 * Returns a condition for a rough range that an index can serve: a stored text lies between the first and the last of
 * all texts that can mean one of the values. Another condition decides exactly.
 */
function isNear (column: Text, values: readonly Parameter[]): Text {
  const all = sql`(values ${sql.join(values.map((value) => sql`(${value})`))})`
  const earliest = wideBounds.earliest(sql`(select min(column1) from ${all})`)
  const latest = wideBounds.latest(sql`(select max(column1) from ${all})`)
  return sql`${column} >= ${earliest} and ${column} <= ${latest}`
}

/** End of the name of the index that holds only rows whose moment does not have the form that the API writes. */
export const otherFormIndex = 'foreign'
