import { propertyOf, withoutValues, type Dialect } from './dialect.js'

/** What the driver throws when a connection breaks, whatever the reason. */
const fatal = 'fatal'

/** By number: the driver's names for the numbers of MariaDB are those of MySQL, and partly wrong. */
function codesOf (failure: Error): readonly string[] {
  const number = Number(propertyOf(failure, 'errno'))
  return [number > 0 ? String(number) : '', propertyOf(failure, 'code'), propertyOf(failure, 'fatal') === 'true' ? fatal : '']
}

/** Whether the server has sent it, not the driver. */
function isSent (failure: Error): boolean {
  return propertyOf(failure, 'sqlMessage') !== ''
}

/**
 * Numbers whose texts name tables, columns, rules and servers: no access, no such thing, null, out of range, too long, references,
 * checks, locks, limits, and a server that is not ready. All others may quote values, such as 1062, 1292, 1366 and 1644.
 */
const toldNumbers = new Set([
  1020, 1021, 1040, 1044, 1045, 1046, 1047, 1048, 1049, 1053, 1054, 1114, 1129, 1130, 1142, 1143, 1146, 1180, 1203, 1205, 1213, 1226, 1227,
  1264, 1265, 1267, 1270, 1271, 1290, 1296, 1305, 1317, 1364, 1406, 1451, 1452, 1461, 1615, 1836, 1927, 1932, 1969, 4025
])

/** The number of a statement that a trigger refuses by SIGNAL may be any, but then its state is that of no error of the server. */
function isTold (failure: Error): boolean {
  return toldNumbers.has(Number(propertyOf(failure, 'errno'))) && propertyOf(failure, 'sqlState') !== '45000'
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
    // A statement that a trigger refuses by SIGNAL.
    1644: 'constraint',
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
