import type { Events } from '../../events/events.js'
import { maxLogins } from '../../policy/passwords.js'
import type { Protection } from '../../policy/protection.js'
import type { Connections } from './connections.js'
import type { RequestQueue } from './request-queue.js'
import { SlotQueue } from './slot-queue.js'
import { TurnQueue } from './turn-queue.js'

/**
 * Requests of one queue that may use a database server at a time, over all clients; further ones wait in the queue.
 * This is several times the usual number of database connections, so that no connection is idle. The queues `guarded`
 * admit {@link maxLogins} more, because requests that wait for the check of a password do not use the server.
 */
const maxRunning = 64

/**
 * Queues of reads and of writes. A request waits only for requests of its own queue. For an engine in this process,
 * reads and writes share one queue.
 *
 * - `guarded` is for operations that look for the user: all that need a user. If a resource has a scope and its policy
 *   knows users, those that anybody may do are among them, too.
 * - `open` is for all others.
 */
export type Queues = Readonly<Record<Exclude<Protection, 'closed'>, Readonly<Record<'reads' | 'writes', RequestQueue>>>>

/** Opens the queues for an engine that works in this process. They spread requests over event-loop turns. */
export function openTurnQueues (connections: Connections, source: Events): Queues {
  const open = new TurnQueue(connections, { name: 'open', source })
  const guarded = new TurnQueue(connections, { name: 'guarded', source })
  return { open: { reads: open, writes: open }, guarded: { reads: guarded, writes: guarded } }
}

/** Opens the queues for a database server. They limit how many requests use it at a time. */
export function openSlotQueues (connections: Connections, source: Events): Queues {
  // Requests that wait for the check of a password hold a slot, but do not use the server.
  const guardedSlots = maxRunning + maxLogins
  // Writes have their own slots, because they may wait for each other's locks, or for a standby, and reads may be slow.
  const twoOf = (slots: number, name: 'open' | 'guarded') => ({
    reads: new SlotQueue(connections, slots, { name: `${name}-reads`, source }),
    writes: new SlotQueue(connections, slots, { name: `${name}-writes`, source })
  })
  return { open: twoOf(maxRunning, 'open'), guarded: twoOf(guardedSlots, 'guarded') }
}
