import type { RestModelsError } from '../client/failure.js'

/** An error as people see it in a page. */
export interface ShownError {
  readonly message: string
  /** Messages by the names of the fields or parameters at fault. Undefined if the error names none. */
  readonly errors?: Readonly<Record<string, string>>
}

/**
 * Returns what a page shows of an error: the message without the error code, and for status 412 a message that does not
 * speak of ETags.
 */
export function toShownError ({ status, message, details }: RestModelsError): ShownError {
  return {
    message: status === 412 ? 'This record was changed by somebody else. Reload it, and change it again.' : message,
    ...details.length > 0 && { errors: Object.fromEntries(details.map(({ field, message }) => [field, message])) }
  }
}
