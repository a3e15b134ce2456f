/** How much of the tests a run does: `npm test` does a part of the rounds and tables, `npm run test:whole` does all. */
export const WHOLE = process.env.TAKETURNS_TESTS === 'whole';

/** Returns how many of `rounds` rounds this run does. */
export function roundsOf(whole: number): number {
  return WHOLE ? whole : Math.ceil(whole / 4);
}

/** Returns the cases of a table that this run does: all cases, or every second case from `first` on. */
export function casesOf<T>(all: readonly T[], first = 0): T[] {
  return WHOLE || all.length < 2 ? [...all] : all.filter((_, i) => i % 2 === first % 2);
}

/** Whether this run leaves out nothing but what `npm run test:whole` has for itself. */
const IN_CI = WHOLE || process.env.CI === 'true';

/** Returns the cases of a table of which only a plain `npm test` does one in so many: CI does all. */
export function allInCi<T>(all: readonly T[], every = 2): T[] {
  return IN_CI ? [...all] : all.filter((_, i) => i % every === 0);
}

/** Returns how many rounds this run does: `all`, and only in a plain `npm test` no more than `few`. */
export function roundsInCi(all: number, few: number): number {
  return IN_CI ? all : few;
}
