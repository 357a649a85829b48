import { randomBytes } from 'node:crypto'

/** A name for a database that nobody else uses. */
export function newName (): string {
  return `rest_models_benchmark_${randomBytes(6).toString('hex')}`
}

/** Returns the URL of another database on the same server. */
export function withName (server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export function nameOf (url: string): string {
  return new URL(url).pathname.slice(1)
}
