/**
 * How many of the numbers from `low` up to, and without, `high` a set has: (count set low high). A set is an array of
 * Booleans. The proofs use four lemmas on this function. Each lemma is proved by induction on `high`, from the two
 * equations that define the function.
 */
import type { Check } from './system.js';
import { and, at, either, forAll, implies, not, put, type Term, within } from './terms.js';

export const SET = '(Array Int Bool)';

export const count = (set: Term, low: Term, high: Term): Term => `(count ${set} ${low} ${high})`;
const one = (condition: Term): Term => either(condition, '1', '0');

interface Lemma {
  readonly name: string;
  /** What it says of `set`, `low`, `high` and perhaps a number `k`. */
  readonly says: (high: Term) => Term;
  /** Whether it speaks of a number `k`. */
  readonly k?: boolean;
  /** The terms that make the solver think of the lemma. */
  readonly when: readonly Term[];
  /** The sets that it counts. */
  readonly sets: readonly Term[];
}

const added = put('set', 'k', 'true');

/** The first lemma. The proofs of the others use it. */
const bounds = (high: Term): Term => implies(`(<= low ${high})`, `(<= 0 ${count('set', 'low', high)} (- ${high} low))`);

const lemmas: readonly Lemma[] = [
  {
    name: 'a count is at least 0, and at most the length',
    says: bounds,
    when: [count('set', 'low', 'high')],
    sets: ['set'],
  },
  {
    name: 'a number that is not in the set is not counted',
    k: true,
    says: (high) =>
      implies(and(within('low', 'k', high), not(at('set', 'k'))), `(< ${count('set', 'low', high)} (- ${high} low))`),
    when: [count('set', 'low', 'high'), at('set', 'k')],
    sets: ['set'],
  },
  {
    name: 'an empty range counts 0',
    says: (high) =>
      implies(
        forAll(['j'], implies(within('low', 'j', high), not(at('set', 'j')))),
        `(= ${count('set', 'low', high)} 0)`,
      ),
    when: [count('set', 'low', 'high')],
    sets: ['set'],
  },
  {
    name: 'a number that is added is counted once',
    k: true,
    says: (high) =>
      `(= ${count(added, 'low', high)} (+ ${count('set', 'low', high)} ${one(and(within('low', 'k', high), not(at('set', 'k'))))}))`,
    when: [count(added, 'low', 'high')],
    sets: ['set', added],
  },
];

/** Declares the function. */
export const declaresCount = [`(declare-fun count (${SET} Int Int) Int)`];
const variables = (k: boolean | undefined) => [
  ['set', SET],
  ['low', 'Int'],
  ['high', 'Int'],
  ...(k ? [['k', 'Int']] : []),
];

/** The lemmas, as terms. */
export const lemmaTerms: readonly Term[] = lemmas.map(({ says, k, when }) => {
  const bound = variables(k).map(([name, sort]) => `(${name} ${sort})`);
  return `(forall (${bound.join(' ')}) (! ${says('high')} :pattern (${when.join(' ')})))`;
});

/** The checks that prove the lemmas. */
export const lemmaChecks: readonly Check[] = lemmas.flatMap(({ name, says, k, sets }) => {
  const own = [...declaresCount, ...variables(k).map(([variable, sort]) => `(declare-const ${variable} ${sort})`)];
  const next = '(+ high 1)';
  // The definition: nothing is in an empty range, and a range that is longer by one has its last number in addition.
  const empty = sets.map((set) => implies('(<= high low)', `(= ${count(set, 'low', 'high')} 0)`));
  const longer = sets.map((set) =>
    implies('(<= low high)', `(= ${count(set, 'low', next)} (+ ${count(set, 'low', 'high')} ${one(at(set, 'high'))}))`),
  );
  return [
    { name: `lemma: ${name}: no numbers`, declares: own, asserts: [...empty, '(<= high low)', not(says('high'))] },
    {
      name: `lemma: ${name}: one number more`,
      declares: own,
      asserts: [...longer, '(<= low high)', bounds('high'), says('high'), not(says(next))],
    },
  ];
});
