import fc from 'fast-check'
import { damages } from './bodies.js'
import type { Operation } from './operations.js'
import { requestsOf, type FuzzedRequest } from './requests.js'
import { callers, type Caller } from './site.js'
import type { Written } from './socket.js'

/** One exchange: a request that is handed to the app, or what is written to a connection. */
export type Delivery = { readonly injected: FuzzedRequest } | { readonly written: Written }

/** Exchanges of one caller on the rows that are there at first. */
export interface Batch {
  readonly caller: Caller
  /** So many are under way at once. */
  readonly concurrency: number
  readonly deliveries: readonly Delivery[]
}

export const largest = 64

export function batches (operations: readonly Operation[]): fc.Arbitrary<Batch> {
  const names = Object.keys(callers) as Caller[]
  // To make what draws requests takes longer than to draw a batch of them.
  const ofCaller = new Map(names.map((caller) => [caller, batchesOf(operations, caller)]))
  return fc.constantFrom(...names)
    .chain((caller) => ofCaller.get(caller) ?? fc.constant({ caller, concurrency: 1, deliveries: [] }))
}

function batchesOf (operations: readonly Operation[], caller: Caller): fc.Arbitrary<Batch> {
  const request = requestsOf(operations, caller)
  const whole = request.map((request): Written => ({ requests: [request], damages: [], cuts: [] }))
  const damaged = fc.record({
    requests: fc.array(request, { minLength: 1, maxLength: 3 }),
    damages: fc.array(damages, { maxLength: 3 }),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 })
  })
  const delivery = fc.oneof(
    { weight: 6, arbitrary: request.map((injected): Delivery => ({ injected })) },
    { weight: 3, arbitrary: whole.map((written): Delivery => ({ written })) },
    { weight: 2, arbitrary: damaged.map((written): Delivery => ({ written })) })
  return fc.record({
    caller: fc.constant(caller),
    concurrency: fc.constantFrom(1, 4, 16, largest),
    deliveries: fc.array(delivery, { minLength: 1, maxLength: largest, size: 'max' })
  })
}

export const requestsIn = (delivery: Delivery): readonly FuzzedRequest[] =>
  'injected' in delivery ? [delivery.injected] : delivery.written.requests
