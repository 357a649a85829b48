import { get, type Agent } from 'node:http'

/** Sends a request. @returns its status, or the code of the error */
export async function statusOf (url: string, agent: Agent): Promise<string> {
  return await new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => { resolve(String(error.code)) }
    get(url, { agent }, (answer) => {
      answer.resume().once('end', () => { resolve(String(answer.statusCode)) }).once('error', fail)
    }).once('error', fail)
  })
}

/** Sends request after request on kept connections, until one is not answered with 200, and counts how they end. */
export async function askAgainAndAgain (url: string, agent: Agent, counts: Record<string, number>): Promise<void> {
  for (let end = '200'; end === '200';) {
    end = await statusOf(url, agent)
    counts[end] = (counts[end] ?? 0) + 1
  }
}
