import regexp from 'eslint-plugin-regexp'
import neostandard, { plugins } from 'neostandard'

const source = ['lib/**/*.ts', 'schemas/**/*.ts']
const counted = { skipBlankLines: true, skipComments: true }
const width = ['error', { code: 120 }]

export default [
  ...neostandard({ ts: true, noJsx: true, ignores: ['**/dist/', '.tap/'] }),
  {
    files: ['**/*.ts'],
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: { '@typescript-eslint/no-explicit-any': 'error' }
  },
  {
    files: ['test/**/*.{ts,js}', 'scripts/**/*.{ts,js,cjs}'],
    rules: { 'max-len': width }
  },
  {
    files: source,
    rules: {
      'max-len': width,
      'max-lines': ['error', { max: 150, ...counted }],
      'max-lines-per-function': ['error', { max: 25, ...counted }]
    }
  },
  {
    // A client's text must not make an expression take quadratic time. The tools read no text of clients.
    files: source,
    ignores: ['lib/tooling/**'],
    plugins: { regexp },
    rules: { 'regexp/no-super-linear-backtracking': 'error' }
  }
]
