import type { AddressInfo } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Delivery } from './batch.js'
import { faultOf } from './judges.js'
import type { FuzzedRequest } from './requests.js'
import { answersIn, exchange, isWhole, type Answer, type Written } from './socket.js'

/** Sends one delivery. @throws with what is wrong with an answer */
export async function deliver (app: FastifyInstance, delivery: Delivery): Promise<readonly Answer[]> {
  const answers = 'injected' in delivery ? [await inject(app, delivery.injected)] : await write(app, delivery.written)
  for (const answer of answers) {
    const fault = faultOf(answer)
    if (fault !== undefined) throw new Error(fault)
  }
  return answers
}

async function inject (app: FastifyInstance, { method, target, headers, body }: FuzzedRequest): Promise<Answer> {
  const given = Object.fromEntries(headers.filter(([name]) => name !== 'transfer-encoding' &&
    name !== 'content-length'))
  const { statusCode, headers: answered, body: text } = await app.inject({
    method: method as InjectOptions['method'] & string,
    url: target.startsWith('/') ? target : `/${target}`,
    headers: given,
    ...(body === undefined ? {} : { payload: body })
  })
  return {
    status: statusCode,
    head: Object.entries(answered).map(([name, value]) => `${name}: ${String(value)}`).join('\r\n'),
    body: text
  }
}

async function write (app: FastifyInstance, written: Written): Promise<readonly Answer[]> {
  const text = await exchange((app.server.address() as AddressInfo).port, written)
  if (text === undefined) throw new Error('the connection stays open')
  const answers = answersIn(text)
  if (isWhole(written) && answers.length !== 1) throw new Error(`a whole request has ${answers.length} answers`)
  return answers
}
