import { seeded, type Random } from '../random.js'

export const userCount = 1000
/** Password of every user. All users have the same stored hash. */
export const userPassword = 'the password of all users'

export type MessageRow = Readonly<Record<'user_id', number> & Record<'content' | 'pub_date', string>>

export const usernameOf = (id: number): string => `user${id}`

/** Returns the message with an id, counted from 1. It does not depend on the number of messages. */
export function * messageRows (count: number): Generator<MessageRow> {
  const random = seeded(1)
  for (let id = 1; id <= count; id++) {
    yield { user_id: 1 + random(userCount), content: contentOf(random), pub_date: dateOf(random) }
  }
}

export type CommentRow = Readonly<Record<'message_id' | 'user_id', number> & Record<'content', string>>

/** Returns one comment for ten messages, each on any message, by any user. */
export function * commentRows (messages: number): Generator<CommentRow> {
  const random = seeded(2)
  for (let id = 1; id <= messages / 10; id++) {
    yield { message_id: 1 + random(messages), user_id: 1 + random(userCount), content: contentOf(random) }
  }
}

const words = ['alpha', 'breeze', 'candle', 'delta', 'ember', 'forest', 'garden', 'harbour', 'island', 'juniper', 'kettle', 'lantern', 'meadow', 'north', 'orchard', 'pebble']
const contentLength = 77

/** A text of 77 characters. */
export function contentOf (random: Random): string {
  let text = ''
  while (text.length < contentLength) text += `${words[random(words.length)]} `
  return `${text.slice(0, contentLength - 1)}.`
}

export const someWord = (random: Random): string => words[random(words.length)] ?? ''

const firstSecond = Date.UTC(2023, 0, 1) / 1000
const twoYears = 2 * 365 * 24 * 60 * 60

function dateOf (random: Random): string {
  return new Date((firstSecond + random(twoYears)) * 1000).toISOString().slice(0, 19).replace('T', ' ')
}
