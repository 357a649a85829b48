const RealDate = globalThis.Date

/** Lets work that asks for the time get that of a request, half a second after the one before, whenever it asks. */
export async function atTheTime<Result> (request: number, work: () => Promise<Result>): Promise<Result> {
  const now = RealDate.UTC(2024, 1, 29, 23, 59, 30) + request * 500
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given: unknown[]) => Reflect.construct(target, given.length === 0 ? [now] : given) as Date,
    get: (target, name) => name === 'now' ? () => now : Reflect.get(target, name) as unknown
  })
  try {
    return await work()
  } finally {
    globalThis.Date = RealDate
  }
}
