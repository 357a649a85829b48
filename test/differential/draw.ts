import fc, { type GeneratorValue } from 'fast-check'

/** Draws random values, one after another. */
export class Draw {
  readonly #generate: GeneratorValue

  constructor (generate: GeneratorValue) {
    this.#generate = generate
  }

  /** A value of an arbitrary. */
  any<Value> (arbitrary: fc.Arbitrary<Value>): Value {
    return this.#generate(() => arbitrary)
  }

  /** A whole number from `least` to `most`, each as often as another. */
  number (least: number, most: number): number {
    return this.#generate((min: number, max: number) => fc.noBias(fc.integer({ min, max })), least, most)
  }

  /** True that often of a hundred times. */
  chance (percent: number): boolean {
    return this.number(0, 99) < percent
  }

  one<Value> (values: readonly [Value, ...Value[]] | readonly Value[]): Value {
    return values[this.number(0, values.length - 1)] as Value
  }

  some<Value> (values: readonly Value[], percent: number): Value[] {
    return values.filter(() => this.chance(percent))
  }

  /** One of several choices, each as often as its weight. */
  weighted<Value> (choices: ReadonlyArray<readonly [weight: number, value: Value]>): Value {
    let die = this.number(1, choices.reduce((sum, [weight]) => sum + weight, 0))
    return (choices.find(([weight]) => (die -= weight) <= 0) ?? choices[0] as readonly [number, Value])[1]
  }
}
