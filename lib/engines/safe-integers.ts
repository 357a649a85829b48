import { isSafe } from './catalog.js'
import type { Storage, Stored } from './storage.js'

/**
 * Returns a storage of integers that a driver may return as a number, a text or a BigInt. One from 2^53 on becomes
 * null, because no JSON number holds it exactly, and a rounded one could be the key of another record.
 */
export function asSafeIntegers (storage: Omit<Storage, 'decode'>): Storage {
  const safe = { ...storage, decode }
  return { ...safe, ofType: ({ written }) => written.startsWith('bigint') ? { ...safe, isShown: isSafe } : undefined }
}

function decode (stored: Stored): number | null {
  const value = Number(stored)
  return Number.isSafeInteger(value) ? value : null
}
