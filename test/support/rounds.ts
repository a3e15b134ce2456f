/** How much of the tests a run has: `npm test` takes a part of rounds and tables, and `npm run test:whole` all. */
export const WHOLE = process.env.TAKETURNS_TESTS === 'whole';

/** Returns how many of so many rounds this run has. */
export function roundsOf(whole: number): number {
  return WHOLE ? whole : Math.ceil(whole / 4);
}

/** Returns the cases of a table that this run has: all, or every second one, from `first` on. */
export function casesOf<T>(all: readonly T[], first = 0): T[] {
  return WHOLE || all.length < 2 ? [...all] : all.filter((_, i) => i % 2 === first % 2);
}
