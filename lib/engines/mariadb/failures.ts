import type { Dialect } from '../dialect.js'
import { propertyOf, withoutValues } from '../failure-properties.js'
import { notSentCode } from '../statement-failure.js'

/** Code, in `failures`, for a failure that the driver marks as fatal: the connection broke, whatever the reason. */
const fatal = 'fatal'

/**
 * Returns the codes of a failure: error number, SQLSTATE, name, and `fatal` if the connection broke. The first one that
 * `failures` lists decides. The number comes before the driver's name for it, because the name is that of MySQL, and
 * may be wrong for MariaDB. If a trigger gives SQLSTATE 45000 with a number that is not listed, the SQLSTATE decides.
 */
function codesOf (failure: Error): readonly string[] {
  const number = Number(propertyOf(failure, 'errno'))
  return [
    number > 0 ? String(number) : '',
    propertyOf(failure, 'sqlState'),
    propertyOf(failure, 'code'),
    propertyOf(failure, 'fatal') === 'true' ? fatal : ''
  ]
}

/** True if the failure comes from the server, not from the driver. */
function isSent (failure: Error): boolean {
  return propertyOf(failure, 'sqlMessage') !== ''
}

/** Matches names in quotes, such as `'user'@'host'`. */
const quoted = /'[^']*'(?:@'[^']*')?|`[^`]*`(?:\.`[^`]*`)*/g
const digits = /\d+/g

const ofReference =
  /^Cannot (?:delete or update a parent|add or update a child) row: a foreign key constraint fails \([?A-Z ,()]+\)$/

/**
 * Patterns, by error number, of the messages of MariaDB that may be logged, because a deployer needs them to repair a
 * fault. The messages name only users and parts of the schema. `?` stands for quoted names, `#` for numbers. A trigger
 * may fail with a text of its own and any error number and SQLSTATE (SIGNAL, RESIGNAL). So only the text shows if a
 * message is MariaDB's. Of all other failures of the server the log gets only the error number, its name, the SQLSTATE
 * and the mark `fatal`.
 */
const ownTexts: Readonly<Record<number, RegExp>> = {
  1044: /^Access denied for user \? to database \?$/,
  1045: /^Access denied for user \? \(using password: (?:YES|NO)\)$/,
  1048: /^Column \? cannot be null$/,
  1049: /^Unknown database \?$/,
  1054: /^Unknown column \? in \?$/,
  1142: /^[A-Z, ]+ command denied to user \? for (?:table|column) \?$/,
  1143: /^[A-Z, ]+ command denied to user \? for column \? in table \?$/,
  1146: /^Table \? doesn't exist$/,
  1264: /^Out of range value for column \? at row #$/,
  1305: /^(?:FUNCTION|PROCEDURE) [\w.#]+ does not exist$/,
  1364: /^Field \? doesn't have a default value$/,
  1406: /^Data too long for column \? at row #$/,
  1451: ofReference,
  1452: ofReference,
  4025: /^CONSTRAINT \? failed for \?$/
}

/**
 * True if the failure's message matches {@link ownTexts}, and so may be logged. False for SQLSTATE 45000, which
 * triggers give.
 */
function isLoggable (failure: Error): boolean {
  const text = propertyOf(failure, 'sqlMessage').replace(quoted, '?').replace(digits, '#')
  const ownText = ownTexts[Number(propertyOf(failure, 'errno'))]
  return propertyOf(failure, 'sqlState') !== '45000' && ownText?.test(text) === true
}

/** Kinds of failures of MariaDB, and the parts of a failure that may be logged. */
export const mariadbFailures: Pick<Dialect, 'codesOf' | 'toLoggable' | 'failures' | 'incomparableCodes'> = {
  codesOf,
  incomparableCodes: ['1267'],
  toLoggable: (failure) =>
    isSent(failure) ? withoutValues(failure, isLoggable(failure), ['errno', 'code', 'sqlState', 'fatal']) : failure,
  // All failures that reading and writing may give, from https://mariadb.com/kb/en/mariadb-error-codes/. The others are
  // faults of the deployer (a missing privilege: 1044 1142 1143; tables, columns, functions: 1054 1146 1305), or of
  // this program (1064 1390).
  failures: {
    1022: 'unique',
    1062: 'unique',
    1169: 'unique',
    1586: 'unique',
    1859: 'unique',
    // 1216 and 1217 come if the user may not read the other table.
    1216: 'reference',
    1217: 'reference',
    1451: 'reference',
    1452: 'reference',
    // A number that is too large for the column, or a text that its character set cannot hold.
    1264: 'reference',
    1366: 'reference',
    1048: 'constraint',
    1263: 'constraint',
    1364: 'constraint',
    1423: 'constraint',
    1292: 'constraint',
    1411: 'constraint',
    1265: 'constraint',
    1406: 'constraint',
    4025: 'constraint',
    // A computed column or a trigger divides by zero, or its result is out of range.
    1365: 'constraint',
    1690: 'constraint',
    // A computed column or a trigger computes a date after the year 9999.
    1441: 'constraint',
    // A JSON function finds a text that is no JSON, or nested too deep; a path that is none, too deep, or has a
    // wildcard in the wrong place; or neither 'one' nor 'all'.
    4035: 'constraint',
    4036: 'constraint',
    4037: 'constraint',
    4038: 'constraint',
    4039: 'constraint',
    4040: 'constraint',
    4041: 'constraint',
    4042: 'constraint',
    4043: 'constraint',
    4044: 'constraint',
    4046: 'constraint',
    // A view excludes the row by its condition, or there is no partition for a value.
    1369: 'constraint',
    1526: 'constraint',
    // A trigger refuses the statement by SIGNAL, with any number.
    1643: 'constraint',
    1644: 'constraint',
    45000: 'constraint',
    // A trigger finds too many rows or none, or a CASE in it has no branch for a value.
    1172: 'constraint',
    1242: 'constraint',
    1329: 'constraint',
    1339: 'constraint',
    // A chain of cascades that is too deep for InnoDB, or that would make a duplicate.
    1296: 'constraint',
    1557: 'constraint',
    1761: 'constraint',
    1762: 'constraint',
    // A row or a packet is too large.
    1118: 'oversized',
    1153: 'oversized',
    // Illegal mix of two, three or more collations.
    1267: 'incomparable',
    1270: 'incomparable',
    1271: 'incomparable',
    // Rolled back: deadlock or lost certification, lock wait, changed since the snapshot, a temporary error of the
    // storage engine, too many transactions, aborted.
    1213: 'unexecuted',
    1205: 'unexecuted',
    1020: 'unexecuted',
    1297: 'unexecuted',
    1637: 'unexecuted',
    1689: 'unexecuted',
    // The table was altered: the statement has to be prepared anew, or the transaction begun.
    1615: 'unexecuted',
    1412: 'unexecuted',
    // A node that is not ready, has no room for a connection, is locked for a backup, or only reads.
    1040: 'unexecuted',
    1047: 'unexecuted',
    1223: 'unexecuted',
    1290: 'unexecuted',
    1792: 'unexecuted',
    1836: 'unexecuted',
    [notSentCode]: 'unexecuted',
    // The connection ended while the server executed the statement, or committed.
    1053: 'lost',
    1158: 'lost',
    1159: 'lost',
    1160: 'lost',
    1161: 'lost',
    1180: 'lost',
    1184: 'lost',
    1927: 'lost',
    // Stopped by a time limit or by an administrator. A commit that has begun goes on, and is answered as done.
    1969: 'unavailable',
    1317: 'unavailable',
    // No room, no memory, no locks, no connections for this user.
    1021: 'unavailable',
    1037: 'unavailable',
    1038: 'unavailable',
    1041: 'unavailable',
    1114: 'unavailable',
    1203: 'unavailable',
    1206: 'unavailable',
    1226: 'unavailable',
    // Files that cannot be read or written, are damaged, or read-only.
    1016: 'unavailable',
    1024: 'unavailable',
    1026: 'unavailable',
    1030: 'unavailable',
    1034: 'unavailable',
    1036: 'unavailable',
    1194: 'unavailable',
    1195: 'unavailable',
    1874: 'unavailable',
    [fatal]: 'lost'
  }
}
