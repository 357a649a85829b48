import type { Database } from '../site/fill.js'

export type EngineName = 'sqlite' | 'postgres' | 'mariadb'

/** Where the databases of a run are: each server gets one of its own, a copy of the same one. */
export interface Engine {
  readonly name: EngineName
  /** Versions and settings that figures depend on, in words. */
  describe (): Promise<readonly string[]>
  open (url: string): Database
  /** Makes an empty database and gives its URL. */
  create (): Promise<string>
  /** Makes a copy, to which nobody is connected, of a database to which nobody is connected. */
  copy (url: string): Promise<string>
  /** Removes what `create` and `copy` have made. */
  drop (url: string): Promise<void>
}
