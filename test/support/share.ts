/** Share of the random values to try: a tenth in `npm test`, otherwise all. */
export const share = process.env['TEST_ALL'] === 'false' ? 1 / 10 : 1
