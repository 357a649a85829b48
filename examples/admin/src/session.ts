export interface User {
  readonly id: number
  readonly full_name: string
  readonly role: string
  readonly admin: boolean
}

/** Who is logged in. It is kept in memory only, so loading the page again asks for the password again. */
export const session: { user: User | undefined, headers: Record<string, string> } = { user: undefined, headers: {} }

/** The headers of HTTP Basic. `btoa` takes one character for each byte, so the text becomes UTF-8 first. */
export function basic (username: string, password: string): Record<string, string> {
  const bytes = new TextEncoder().encode(`${username}:${password}`)
  return { authorization: `Basic ${btoa(String.fromCodePoint(...bytes))}` }
}
