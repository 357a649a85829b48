import type { Dialect } from '../dialect.js'
import { propertyOf, withoutValues } from '../failure-properties.js'
import { lostCode, noAnswerCode, notSentCode } from '../statement-failure.js'

/**
 * Code, in `failures`, for errors that the driver throws without a code, and for those of the operating system: the
 * connection died, or the driver no longer waits for an answer.
 */
const broken = 'broken'

/**
 * Returns the codes of a failure; the first one that `failures` lists decides. Their order is: SQLSTATE and routine,
 * SQLSTATE, class and severity, class, routine, {@link broken}. A class is the first two characters of an SQLSTATE:
 * https://www.postgresql.org/docs/15/errcodes-appendix.html. The routine is the function in the server's source that
 * failed. It tells apart failures with the same SQLSTATE. The result is empty for a fault of the program, such as a
 * TypeError without a code.
 */
export function codesOf (failure: Error): readonly string[] {
  const code = propertyOf(failure, 'code')
  if (code === '') return failure.constructor.name === 'Error' ? [broken] : []
  const routine = propertyOf(failure, 'routine')
  const sqlClass = code.slice(0, 2)
  return [
    `${code} ${routine}`, code, `${sqlClass} ${propertyOf(failure, 'severity')}`, sqlClass, routine,
    ...propertyOf(failure, 'syscall') === '' ? [] : [broken]
  ]
}

/** True if the error comes from the server, not from the driver. */
function isSent (failure: Error): boolean {
  return propertyOf(failure, 'severity') !== ''
}

/**
 * SQLSTATEs, and classes (their first two characters), whose messages may be logged: they name tables, columns and
 * constraints, but hold no values. {@link isLoggable} excludes some of these messages. Class 22 (data errors) is left
 * out, because its messages quote values, except those of 22001.
 */
const loggableCodes = new Set([
  '08', '0A', '22001', '23', '25', '26', '27', '28', '3D', '3F', '40', '42', '44', '53', '54', '55', '57', '58', 'XX'
])

/**
 * Classes of SQLSTATEs (their first two characters) whose messages quote names in the statement. Such a message is not
 * logged if a function of the database was running. The function may execute a statement made of values, which the
 * message would then quote.
 */
const statementCodes = new Set(['08', '0A', '25', '26', '28', '3D', '3F', '42', 'XX'])

/**
 * True if the message of a failure certainly holds no values, so that it may be logged. False for a message by RAISE in
 * a function, because it may have any code and any text. False for the message about an unknown text search
 * configuration, because its name may be a value. The property `where` is not empty if a function was running.
 */
function isLoggable (failure: Error): boolean {
  const has = (codes: ReadonlySet<string>): boolean => codesOf(failure).some((code) => codes.has(code))
  const quotesValues = ['exec_stmt_raise', 'get_ts_config_oid'].includes(propertyOf(failure, 'routine'))
  return !quotesValues && has(loggableCodes) && (propertyOf(failure, 'where') === '' || !has(statementCodes))
}

const keptProperties = ['code', 'severity', 'schema', 'table', 'column', 'constraint', 'routine'] as const

export const postgresFailures: Pick<
  Dialect, 'codesOf' | 'toLoggable' | 'failures' | 'incomparableCodes' | 'unlockableCodes'
> = {
  codesOf,
  incomparableCodes: ['42883'],
  unlockableCodes: ['0A000', '42809'],
  toLoggable: (failure) => isSent(failure) ? withoutValues(failure, isLoggable(failure), keptProperties) : failure,
  // These are left out: 24 2D 2F 34 38 39 3B 3F 42 55 F0 HV P0000 XX, because they are faults of the deployer or of
  // this program; 28 and 3D, because they concern connecting, which is tried again.
  failures: {
    23505: 'unique',
    23503: 'reference',
    23001: 'reference',
    22003: 'reference',
    23: 'constraint',
    // A computed column, a check or a trigger fails on a value: it divides by zero, or takes the value for a date.
    22: 'constraint',
    44: 'constraint',
    // A BEFORE trigger has written the same row itself.
    27: 'constraint',
    40002: 'constraint',
    // A trigger refuses the write by RAISE EXCEPTION, which may give any code.
    P0001: 'constraint',
    exec_stmt_raise: 'constraint',
    // A trigger gets no row or too many for a value (P0002, P0003, 21000), its assertion fails (P0004), or its CASE has
    // no branch for the value (20000).
    P0002: 'constraint',
    P0003: 'constraint',
    P0004: 'constraint',
    20000: 'constraint',
    21000: 'constraint',
    // There is no text search configuration of the name that a value gives.
    '42704 get_ts_config_oid': 'constraint',
    // A row-level security policy refuses, or a trigger in its place. If a GRANT is missing, another function fails.
    '42501 ExecWithCheckOptions': 'forbidden',
    '42501 exec_stmt_raise': 'forbidden',
    54: 'oversized',
    // Serialization failure, deadlock, lock not available, snapshot too old: the whole transaction was rolled back.
    40: 'unexecuted',
    '55P03': 'unexecuted',
    72: 'unexecuted',
    // The node is a standby, or a primary that became one, or the connection is read-only.
    25006: 'unexecuted',
    // The prepared statement no longer fits its table, is gone, or its name is taken. If another function gives 0A000,
    // PostgreSQL never runs the statement: an insert with RETURNING whose rule says DO INSTEAD, for example.
    '0A000 RevalidateCachedQuery': 'unexecuted',
    26000: 'unexecuted',
    '42P05': 'unexecuted',
    // The server ended the idle connection before this statement arrived, or accepts no connections now.
    '57P03': 'unexecuted',
    '57P05': 'unexecuted',
    [notSentCode]: 'unexecuted',
    // The server ended a transaction that took too long, or did nothing for too long.
    '25P03': 'unavailable',
    '25P04': 'unavailable',
    // 40003 and 08007 say that the outcome is unknown. The others come with the end of a connection, at any moment.
    40003: 'lost',
    '08': 'lost',
    // A statement has more than 65,535 parameters, which the driver counts wrongly. The server executes nothing.
    '08P01 exec_bind_message': undefined,
    '57P01': 'lost',
    '57P02': 'lost',
    '57P04': 'lost',
    ECONNRESET: 'lost',
    EPIPE: 'lost',
    ETIMEDOUT: 'lost',
    [noAnswerCode]: 'lost',
    // The driver may give one error to several statements, and the first of them then adds this code to it.
    [lostCode]: 'lost',
    [broken]: 'lost',
    // An ERROR is undone. A FATAL or a PANIC may come after the commit, for example if the log cannot be written.
    '53 ERROR': 'unavailable',
    '57 ERROR': 'unavailable',
    '58 ERROR': 'unavailable',
    53: 'lost',
    57: 'lost',
    58: 'lost',
    // The data or an index is damaged.
    XX001: 'unavailable',
    XX002: 'unavailable'
  }
}
