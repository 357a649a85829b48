/** Returns a column's affinity, by which SQLite converts values: https://www.sqlite.org/datatype3.html, section 3.1. */
export function affinity (declaredType: string): 'integer' | 'text' | 'none' | 'blob' | 'real' | 'numeric' {
  const type = declaredType.toLowerCase()
  if (type.includes('int')) return 'integer'
  if (/char|clob|text/.test(type)) return 'text'
  if (type === '') return 'none'
  if (type.includes('blob')) return 'blob'
  return /real|floa|doub/.test(type) ? 'real' : 'numeric'
}

/** Returns the condition that a declared type has one of the given affinities. */
export const held = (...affinities: Array<ReturnType<typeof affinity>>) =>
  (declaredType: string) => affinities.includes(affinity(declaredType))
