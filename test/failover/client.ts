import { Agent, request } from 'node:http'
import { basic } from '../support/site.js'

/** Milliseconds that a client waits for an answer. */
const patience = 15_000

export interface Answer {
  /** 0 if nothing came. */
  readonly status: number
  readonly retryAfter: string | undefined
  /** As it came, or why nothing came. */
  readonly body: string
}

/** Somebody who has one connection to an app, and keeps it. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #address: string
  readonly #headers: Readonly<Record<string, string>>

  /** @param user  whose name is the password */
  constructor (address: string, user: string) {
    this.#address = address
    this.#headers = { authorization: basic(user), 'content-type': 'application/json' }
  }

  async send (method: string, path: string, body?: object): Promise<Answer> {
    return await new Promise((resolve) => {
      const fail = (error: Error): void => {
        resolve({ status: 0, retryAfter: undefined, body: `${error.name}: ${error.message}` })
      }
      const options = { method, agent: this.#agent, headers: this.#headers, signal: AbortSignal.timeout(patience) }
      const sent = request(`${this.#address}/api/entry/${path}`, options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => { text += chunk }).on('error', fail)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body: text })
        })
      })
      sent.on('error', fail)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  close (): void {
    this.#agent.destroy()
  }
}

/** Whether the client is told that its change was certainly not made. */
export function isUndone ({ body }: Answer): boolean {
  return body.includes('"REST_MODELS_UNAVAILABLE"')
}

/** Whether the client is asked to come back later, which is how it learns that no node can do the work now. */
export function isPutOff ({ status, retryAfter }: Answer): boolean {
  return status === 503 && /^[1-9]\d*$/.test(retryAfter ?? '')
}
