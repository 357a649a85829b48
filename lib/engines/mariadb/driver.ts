import type mysql from 'mysql2'
import { loadDriver } from '../load-driver.js'

/** Returns the driver `mysql2`. */
export function driver (): typeof mysql {
  return loadDriver<typeof mysql>('mysql2')
}
