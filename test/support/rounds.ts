/** How long the crowds of test/stress contend: `npm test` takes a part of the rounds, and `npm run test:whole` all. */
const WHOLE = process.env.TAKETURNS_TESTS === 'whole';

/** Returns how many of so many rounds this run has. */
export function roundsOf(whole: number): number {
  return WHOLE ? whole : Math.ceil(whole / 4);
}
