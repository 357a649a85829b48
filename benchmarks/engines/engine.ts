import type { Database } from '../site/fill.js'

export type EngineName = 'sqlite' | 'postgres' | 'mariadb'

/** Place of the databases of a run. Each server gets its own copy of the same database. */
export interface Engine {
  readonly name: EngineName
  /** Versions and settings that figures depend on, in words. */
  describe (): Promise<readonly string[]>
  open (url: string): Database
  /** Makes an empty database and gives its URL. */
  create (): Promise<string>
  /** Makes a copy, to which nobody is connected, of a database to which nobody is connected. */
  copy (url: string): Promise<string>
  /** Removes the databases that `create` and `copy` made. */
  drop (url: string): Promise<void>
}
