import { propertyOf } from '../failure-properties.js'
import { NoConnection, noAnswerCode } from '../statement-failure.js'

/** A database server as messages name it, and the function that got its URL. */
export interface ServerWords {
  readonly name: 'PostgreSQL' | 'MariaDB'
  readonly opener: 'openPostgres()' | 'openMariadb()'
  readonly host: string
}

const account = 'user and password in the URL'
const database = 'database in the URL'
const place = 'host and port in the URL'

/**
 * Part of the database URL that an error message asks the user to check, for each code of a failed connection. A code
 * is an SQLSTATE of PostgreSQL, an error number of MariaDB as text, or a code of the operating system such as
 * `ECONNREFUSED`.
 */
const remedies = new Map([
  ['28P01', account], ['28000', account], ['1045', account], ['1698', account],
  ['3D000', database], ['1049', database], ['1044', database],
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'].map((code) => [code, place] as const)
])

/**
 * Returns the error to throw if a server gives no connection. Its message says which server, the reason of the driver
 * and what to check. It holds no password, because no message of the drivers does. The error also has the properties of
 * `failure`, such as its code.
 */
export function connectionFailure (failure: Error, { name, opener, host }: ServerWords): Error {
  const [remedy = 'URL'] = ['errno', 'code'].flatMap((property) => remedies.get(propertyOf(failure, property)) ?? [])
  const message =
    `${name} at ${host} gives no connection: ${reasonOf(failure)}. Check the ${remedy} that ${opener} gets`
  // An error of the driver without a code says that no answer came.
  return Object.assign(new NoConnection(message), { code: noAnswerCode }, failure)
}

/**
 * Returns the message of a driver's error, which never holds a password. If the message is empty, returns the code: the
 * message is empty if a host has several addresses and all of them fail.
 */
export function reasonOf (error: unknown): string {
  const message = propertyOf(error, 'message')
  return message === '' ? propertyOf(error, 'code') : message
}
