import { chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { requirePrograms } from '../support/engines/programs.js'

/** A page in a browser with a new profile, and what happened there so far. */
export interface WatchedPage {
  readonly page: Page
  /** What the browser would have opened its own dialog for, to ask for a name and a password. */
  readonly dialogs: string[]
  /** Faults of scripts, and what the page's content security policy refused. */
  readonly complaints: string[]
  /** Origins that were asked for anything. */
  readonly origins: Set<string>
}

const quiet = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync', '--no-first-run']

/** Opens an address in Debian's Chromium, which is closed when the test ends. */
export async function openPage (t: Test, address: string): Promise<WatchedPage> {
  const browser = await chromium.launch({ executablePath: requirePrograms('chromium').chromium, args: quiet })
  t.teardown(async () => { await browser.close() })
  const page = await browser.newPage({ viewport: { width: 1000, height: 1400 } })
  page.setDefaultTimeout(30_000)
  const watched: WatchedPage = { page, dialogs: await watchDialogs(page), complaints: [], origins: new Set() }
  page.on('pageerror', ({ message }) => watched.complaints.push(message))
  page.on('console', (message) => {
    // An answer that is an error is told as well, and is no fault of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      watched.complaints.push(message.text())
    }
  })
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) watched.origins.add(new URL(request.url()).origin)
  })
  await page.goto(address)
  return watched
}

/**
 * A browser without a screen opens no dialogs, but says when it would, and then waits for an answer as it does for a
 * person's.
 */
async function watchDialogs (page: Page): Promise<string[]> {
  const dialogs: string[] = []
  const session = await page.context().newCDPSession(page)
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.continueRequest', { requestId }).catch(() => {})
  })
  session.on('Fetch.authRequired', ({ requestId, request, authChallenge }) => {
    dialogs.push(`${request.method} ${request.url}: ${authChallenge.realm}`)
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse: { response: 'CancelAuth' } })
      .catch(() => {})
  })
  await session.send('Fetch.enable', { handleAuthRequests: true })
  return dialogs
}
