// What the client uses of `fetch`, spelled out: its types fit browsers and Node, which declare them each in their own way.

/** An AbortSignal, where the consumer's own types have one. */
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

/** The global `fetch`, or a function that does as it does. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>
