import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** The server of the API. Pages of one origin need no CORS, so the API seems to be on this one. */
const { API = 'http://127.0.0.1:3000' } = process.env

export default defineConfig({
  // In this repository the package is what `npm run build` made. An app of yours installs it and needs no alias.
  resolve: { alias: { 'fastify-rest-models': fileURLToPath(new URL('../../dist/lib', import.meta.url)) } },
  server: { host: '127.0.0.1', port: 5173, proxy: { '/api': API } },
  preview: { host: '127.0.0.1' },
  build: { chunkSizeWarningLimit: 2000, rolldownOptions: { checks: { moduleLevelDirective: false } } }
})
