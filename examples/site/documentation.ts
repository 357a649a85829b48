import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { accounts, toLine } from './seed.js'

/** Where the page is. */
export const documentationPath = '/documentation'

const description = `
Your first message: **Authorize** as \`alice\`, password \`alice\`; open **POST /api/message/**, **Execute**. It is in the list of
**GET /api/message/** then. To change one of bob's is 403.

Accounts, whose passwords are their names: ${toLine(accounts)}. Reading needs none.
`

/**
 * Collects the routes that are added afterwards as OpenAPI 3.1, and serves them with a page to try them. The page sends the
 * credentials of its own Authorize button and no others: with those of the browser, a 401 would open the browser's own
 * dialog in place of being shown.
 */
export async function addDocumentation (app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'The example site', version: '1.0.0', description }
    }
  })
  await app.register(swaggerUi, {
    routePrefix: documentationPath,
    uiConfig: {
      tryItOutEnabled: true,
      docExpansion: 'list',
      displayRequestDuration: true,
      // Runs in the browser, from its own text: it may use nothing of this file.
      requestInterceptor: (request) => Object.assign(request, { credentials: 'omit' })
    },
    staticCSP: contentSecurityPolicy
  })
}

/** The page loads from this server alone, also by plain HTTP under any name, and no other site's page may frame it. */
const contentSecurityPolicy = [
  "default-src 'self'", "img-src 'self' data:", "style-src 'self' 'unsafe-inline'", "object-src 'none'", "base-uri 'self'", "form-action 'self'", "frame-ancestors 'none'"
].join('; ')
