import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { accounts, toLine } from './seed.js'

/** Where the page is. */
export const documentationPath = '/documentation'

const description = `
A site with users, their messages and who follows whom, to try \`fastify-rest-models\` on. Your first message:

1. **Authorize** (the button on the right): user name \`alice\`, password \`alice\`, then **Authorize** and **Close**.
2. Open **POST /api/message/**, write what you have to say as \`content\` (it is all that the body needs), and **Execute**: 201, and the record.
3. Open **GET /api/message/** and **Execute**: it is in the list. Set \`user__username\` to \`bob\` to see what others wrote;
   to change that is 403, since a message belongs to whoever wrote it.

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
      info: { title: 'The example site', version: '1.0.0', description },
      components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
      security: [{}, { basic: [] }]
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
