/** A permission, a scope or a default that the deployer may not have intended. */
export interface Danger {
  readonly resource: string
  /** A field, or a path in the option `filterable`: `user__api_key`. Absent if the danger is in the whole resource. */
  readonly field?: string
  readonly why: string
}
