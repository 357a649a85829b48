/** The part of the random values that is tried: a tenth in `npm test`, else all. */
export const share = process.env['TEST_ALL'] === 'false' ? 1 / 10 : 1
