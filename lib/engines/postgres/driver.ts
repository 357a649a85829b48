import type pg from 'pg'
import { loadDriver } from '../load-driver.js'

/** Returns the driver `pg`. */
export function driver (): typeof pg {
  return loadDriver<typeof pg>('pg')
}
