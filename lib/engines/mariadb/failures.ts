import { propertyOf, withoutValues, type Dialect } from '../dialect.js'

/** What the driver throws when a connection breaks, whatever the reason. */
const fatal = 'fatal'

/** By number: the driver's names for the numbers of MariaDB are those of MySQL, and partly wrong. Then by state, which is all that some triggers give. */
function codesOf (failure: Error): readonly string[] {
  const number = Number(propertyOf(failure, 'errno'))
  return [number > 0 ? String(number) : '', propertyOf(failure, 'sqlState'), propertyOf(failure, 'code'), propertyOf(failure, 'fatal') === 'true' ? fatal : '']
}

/** Whether the server has sent it, not the driver. */
function isSent (failure: Error): boolean {
  return propertyOf(failure, 'sqlMessage') !== ''
}

/** What stands in quotes and is a name, and a number. */
const quoted = /'[^']*'(?:@'[^']*')?|`[^`]*`(?:\.`[^`]*`)*/g
const digits = /\d+/g

const ofReference =
  /^Cannot (?:delete or update a parent|add or update a child) row: a foreign key constraint fails \((?:\?|[A-Z ,()])+\)$/

/**
 * Texts of the server that a deployer needs to mend a fault, and that name nothing but users, tables and columns, by
 * their numbers. `?` stands for what is quoted, `#` for numbers. A trigger may give any number and any state to words of
 * its own (SIGNAL, RESIGNAL), so only the text tells whose it is. Of all others the log has the number and its name.
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

/** Tells whether a text may be logged. */
function isTold (failure: Error): boolean {
  const text = propertyOf(failure, 'sqlMessage').replace(quoted, '?').replace(digits, '#')
  return propertyOf(failure, 'sqlState') !== '45000' && ownTexts[Number(propertyOf(failure, 'errno'))]?.test(text) === true
}

/** How failures of MariaDB are told apart, and what of them may be logged. */
export const mariadbFailures: Pick<Dialect, 'codesOf' | 'discreet' | 'failures'> = {
  codesOf,
  discreet: (failure) => isSent(failure) ? withoutValues(failure, isTold(failure), ['errno', 'code', 'sqlState', 'fatal']) : failure,
  // https://mariadb.com/kb/en/mariadb-error-codes/: all that reading and writing may give. What is left out is a fault of the
  // deployer (a missing privilege: 1044 1142 1143; tables, columns, functions: 1054 1146 1305) or of this program (1064 1390).
  failures: {
    1022: 'unique',
    1062: 'unique',
    1169: 'unique',
    1586: 'unique',
    1859: 'unique',
    // The first two to whoever may not look at the other table.
    1216: 'reference',
    1217: 'reference',
    1451: 'reference',
    1452: 'reference',
    1264: 'reference',
    1048: 'constraint',
    1263: 'constraint',
    1364: 'constraint',
    1423: 'constraint',
    1366: 'constraint',
    1292: 'constraint',
    1411: 'constraint',
    1265: 'constraint',
    1406: 'constraint',
    4025: 'constraint',
    // What a column that is computed, or a trigger makes of a value: division by zero, out of range.
    1365: 'constraint',
    1690: 'constraint',
    // The condition of a view, and a value for which there is no partition.
    1369: 'constraint',
    1526: 'constraint',
    // A statement that a trigger refuses by SIGNAL, with whatever number.
    1643: 'constraint',
    1644: 'constraint',
    45000: 'constraint',
    // Too many rows, or none, for what a trigger makes of a value, and a CASE that has no branch for it.
    1172: 'constraint',
    1242: 'constraint',
    1329: 'constraint',
    1339: 'constraint',
    // A chain of cascades that is too deep for InnoDB, or that would make a duplicate.
    1296: 'constraint',
    1557: 'constraint',
    1761: 'constraint',
    1762: 'constraint',
    // A row, a packet.
    1118: 'oversized',
    1153: 'oversized',
    // Illegal mix of collations: of two, three, more.
    1267: 'incomparable',
    1270: 'incomparable',
    1271: 'incomparable',
    // Deadlock or lost certification, lock wait, changed since the snapshot, aborted: rolled back.
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
    1053: 'lost',
    1158: 'lost',
    1159: 'lost',
    1160: 'lost',
    1161: 'lost',
    1180: 'lost',
    1184: 'lost',
    1927: 'lost',
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
