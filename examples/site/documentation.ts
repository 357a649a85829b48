import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** Path of the page. */
export const documentationPath = '/documentation'

/**
 * Describes the routes that are added afterwards as OpenAPI 3.1, and serves a page to try them. The page sends only the
 * credentials of its own Authorize button. With those of the browser, a 401 would open the browser's own dialog instead of
 * being shown.
 */
export async function addDocumentation (
  app: FastifyInstance, info: { readonly title: string, readonly description: string }
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' }, ...info },
      // This server, under whatever name the reader has reached it.
      servers: [{ url: '/' }]
    }
  })
  await app.register(swaggerUi, {
    routePrefix: documentationPath,
    uiConfig: {
      tryItOutEnabled: true,
      docExpansion: 'list',
      displayRequestDuration: true,
      // Runs in the browser, so it may use nothing from this file.
      requestInterceptor: (request) => Object.assign(request, { credentials: 'omit' })
    },
    staticCSP: contentSecurityPolicy
  })
}

/** Lets the page load only from this server, also by plain HTTP under any name. No page of another site may frame it. */
const contentSecurityPolicy = [
  "default-src 'self'", "img-src 'self' data:", "style-src 'self' 'unsafe-inline'", "object-src 'none'", "base-uri 'self'", "form-action 'self'", "frame-ancestors 'none'"
].join('; ')
