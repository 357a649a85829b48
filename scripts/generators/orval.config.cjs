/** Writes a client of the document that DOCUMENT names, for the server at ORIGIN. */
module.exports = {
  site: {
    input: process.env.DOCUMENT,
    output: { target: 'dist/orval.ts', client: 'fetch', baseUrl: process.env.ORIGIN }
  }
}
