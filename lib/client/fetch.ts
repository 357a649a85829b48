// The client declares the part of `fetch` that it uses, because browsers and Node declare the types differently.

/** The type `AbortSignal` if the TypeScript settings of the app that uses the client have it, otherwise `never`. */
export type Signal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer S } } ? S : never

export type CredentialsMode = 'omit' | 'same-origin' | 'include'

export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly credentials: CredentialsMode
  readonly redirect: 'error'
  readonly body?: string
  readonly signal?: Signal
}

export interface FetchAnswer {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: { get (name: string): string | null }
  text (): Promise<string>
}

/** The global `fetch`, or a function that behaves like it. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>
