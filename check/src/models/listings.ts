/** Models of the papers' semaphores: the listings, the semaphores whose waiters stand on chains, and the hashes. */
import { constant } from '../scene/layout.js';
import type { Model } from '../scene/model.js';
import { type Line, modelOf, three, WRAP } from './parts/program.js';

const FOR_EVER = constant('FOR_EVER');
const FAR_PARKS = constant('FAR_PARKS');

const listings: readonly Line[] = (['ticket', 'twa', 'conservative', 'sequestered'] as const).flatMap((kind) => {
  const thresholds = kind === 'ticket' ? [0] : [0, 1, 2];
  return thresholds.flatMap((threshold): Line[] => {
    const name = (text: string): string => `${kind}${kind === 'ticket' ? '' : ` ${threshold}`}: ${text}`;
    return [
      { name: name('2x1'), program: 'A R | A R', permits: [1], kind, threshold },
      { name: name('2x1 polling'), program: 'A R | A R', permits: [1], kind, threshold, spin: 2 },
      { name: name('2x1 spinning'), program: 'A R | A R', permits: [1], kind, threshold, spin: FOR_EVER },
      {
        name: name('2x1 wrap, spinning'),
        program: 'A R A R | A R',
        permits: [1],
        kind,
        threshold,
        spin: FOR_EVER,
        first: WRAP,
      },
      { name: name('3x1 spinning'), program: 'A R | A R | A R', permits: [1], kind, threshold, spin: FOR_EVER },
      { name: name('dispose, spinning'), program: 'A R | A R | D', permits: [1], kind, threshold, spin: FOR_EVER },
      ...(kind === 'ticket' || threshold === 0
        ? []
        : [
            {
              name: name('3x1, the first spins and the others park'),
              program: 'A R | A R | A R',
              permits: [1],
              kind,
              threshold: threshold | FAR_PARKS,
              spin: FOR_EVER,
            },
          ]),
      { name: name('dispose of a waiter'), program: 'A | D', permits: [0], kind, threshold },
      { name: name('3x2'), long: true, program: three, permits: [1], kind, threshold },
      { name: name('3x2 2 permits'), long: true, program: three, permits: [2], kind, threshold, buckets: 2 },
      { name: name('4x1'), long: true, program: 'A R | A R | A R | A R', permits: [1], kind, threshold },
      {
        name: name('3x1 wrap, polling'),
        program: 'A R | A R | A R',
        permits: [1],
        kind,
        threshold,
        spin: 1,
        first: WRAP,
        buckets: 2,
      },
      {
        name: name('two semaphores'),
        program: "A R | A' R' | A R | A' R'",
        permits: [1, 1],
        kind,
        threshold,
      },
      ...(kind === 'conservative'
        ? []
        : [
            { name: name('release of 2'), program: 'A | A | V2', permits: [0], kind, threshold },
            {
              name: name('release of 3'),
              program: 'A | A | A | V3',
              permits: [0],
              kind,
              threshold,
              buckets: 2 as const,
            },
            {
              name: name('release of 3, spinning'),
              program: 'A | A | A | V3',
              permits: [0],
              kind,
              threshold,
              spin: FOR_EVER,
            },
          ]),
      { name: name('dispose'), program: 'A R | A R | D', permits: [1], kind, threshold },
      { name: name('dispose of waiters'), program: 'A | A | D', permits: [0], kind, threshold },
      // A waiter that is not due sleeps, even after a poke. Only a waiter that is due is sure to be poked.
      { name: name('left waiting'), program: 'A | A | V', permits: [0], kind, threshold, mayWait: true },
      { name: name('4 buckets'), program: 'A | A | V V', permits: [0], kind, threshold, buckets: 4 },
      { name: name('3x1 yielding'), program: 'A R | A R | A R', permits: [1], kind, threshold, spin: -2 },
      { name: name('dispose, polling'), program: 'A R | A R | D', permits: [1], kind, threshold, spin: 3 },
    ];
  });
});

/** The semaphores whose waiters stand on chains: name, kind, and O_WAKE and O_LAZY of core/papers/words.ts. */
const ON_CHAINS = [
  ['chain all', 'chain', { wake: 0 }],
  ['chain pass', 'chain', { wake: 1 }],
  ['chain due', 'chain', { wake: 2 }],
  ['channel', 'channel', { lazy: 0 }],
  ['channel lazy', 'channel', { lazy: 1 }],
  ['location', 'location', {}],
] as const;

/** Waiters at locations that alternate between two elements of their thread, and waiters that look before they wait. */
const VARIANTS = [
  ['location alternating', 'location', { alternates: 1, extra: 3 }],
  ['chain pass looking', 'chain', { wake: 1, look: 1 }],
  ['chain due looking', 'chain', { wake: 2, look: 2 }],
] as const;

const chains: readonly Line[] = ON_CHAINS.flatMap(([name, kind, variant]): Line[] => {
  const line = (text: string, program: string, more: Partial<Line> = {}): Line => ({
    name: `${name}: ${text}`,
    program,
    permits: [1],
    kind,
    ...variant,
    ...more,
  });
  return [
    line('2x1', 'A R | A R'),
    line('2x1 conservative', 'A R | A R', { kind: `${kind} conservative` }),
    line('2x1 polling', 'A R | A R', { spin: 2, first: WRAP }),
    line('dispose of a waiter', 'A | D', { permits: [0] }),
    line('left waiting', 'A | A | V', { permits: [0], mayWait: true }),
    line('posted, 4 buckets', 'A | A | V2', { permits: [0], buckets: 4 }),
    line('the end of two threads', 'A R E | A R E'),
    line('elements used before', 'A R E | A R', { aged: true }),
    line('no elements at hand, used before', 'A R E | A R', { aged: true, cold: true }),
    // A grant that was passed to an element in an earlier wait must not admit the next owner of the element.
    ...(name === 'chain pass'
      ? [
          line('left waiting, elements used before', 'A | A | V', {
            permits: [0],
            mayWait: true,
            aged: true,
            cold: true,
          }),
        ]
      : []),
    // Three waiters are on one chain, and two of them are pushed back.
    ...(name === 'chain due' ? [line('one of three', 'A | A | A | V', { permits: [0], mayWait: true })] : []),
    line('3x1', 'A R | A R | A R'),
    line('3x1 conservative', 'A R | A R | A R', { kind: `${kind} conservative` }),
    // For `chain due` and for channels this model is too large. In `chain due` a notifier evaluates the conditions of
    // three waiters, and on a channel each release moves a sequence.
    ...(name === 'chain due' || kind === 'channel' ? [] : [line('3x2', three, { long: true })]),
    line('2x2', 'A R A R | A R A R'),
    line('2x2 2 buckets', 'A R A R | A R A R', { buckets: 2 }),
    line('2 wait twice, 2 buckets', 'A A | A A | V2 V2', { buckets: 2, permits: [0] }),
    line('3x1 wrap, polling', 'A R | A R | A R', { spin: 1, first: WRAP, buckets: 2 }),
    line('3x1 yielding', 'A R | A R | A R', { spin: -1 }),
    line('two semaphores', "A R | A' R' | A R | A' R'", { permits: [1, 1], long: true }),
    line('two semaphores, posted', "A | A' | V V'", { permits: [0, 0] }),
    line('posted one by one', 'A | A | V | V', { permits: [0], long: true }),
    line('release of 2', 'A | A | V2', { permits: [0] }),
    line('release of 2, 2 buckets', 'A | A | V2', { permits: [0], buckets: 2 }),
    line('release of 3', 'A | A | A | V3', { permits: [0], long: true, buckets: 2 }),
    line('dispose', 'A R | A R | D'),
    line('dispose of waiters', 'A | A | D', { permits: [0] }),
    line('the end of threads', 'A R E | A R E | A R E', { buckets: 2 }),
    line('the end of threads, 1 bucket', 'A R E | A R E | A R E'),
  ];
});

/**
 * The semaphores on chains with near and far waiters (core/papers/near-and-far.ts). These models have at most one
 * permit. With threshold 1, the first waiter is near and the others are far. With threshold 2, two waiters are near.
 */
const thresholds: readonly Line[] = ON_CHAINS.flatMap(([name, kind, variant]): Line[] =>
  [1, 2].flatMap((threshold): Line[] => {
    const line = (text: string, program: string, more: Partial<Line> = {}): Line => ({
      name: `${name} ${threshold}: ${text}`,
      program,
      permits: [1],
      kind,
      threshold,
      ...variant,
      ...more,
    });
    const conservative = { kind: `${kind} conservative` } as const;
    return [
      line('2x1', 'A R | A R'),
      line('2x1 conservative', 'A R | A R', conservative),
      line('2x1 polling', 'A R | A R', { spin: 2, first: WRAP }),
      line('left waiting', 'A | A | V', { permits: [0], mayWait: true }),
      line('left waiting, conservative', 'A | A | V', { ...conservative, permits: [0], mayWait: true }),
      line('elements used before', 'A R E | A R', { aged: true }),
      line('3x1', 'A R | A R | A R'),
      line('3x1 conservative', 'A R | A R | A R', conservative),
      line('3x1 2 buckets', 'A R | A R | A R', { buckets: 2 }),
      line('3x1 wrap, polling', 'A R | A R | A R', { spin: 1, first: WRAP, buckets: 2 }),
      line('2x2', 'A R A R | A R A R'),
      line('2 wait twice', 'A A | A A | V2 V2', { permits: [0], long: true }),
      line('posted', 'A | A | V V', { permits: [0], buckets: 2 }),
      line('posted one by one', 'A | A | V | V', { permits: [0], long: true }),
      line('release of 2', 'A | A | V2', { permits: [0] }),
      line('release of 2, 2 buckets', 'A | A | V2', { permits: [0], buckets: 2 }),
      line('release of 3', 'A | A | A | V3', {
        permits: [0],
        buckets: 2,
        long: threshold === 1 || name === 'chain due',
      }),
      line('release of 1 and 2', 'A | A | A | V V2', { permits: [0], buckets: 2, long: true }),
      line('dispose of waiters', 'A | A | D', { permits: [0] }),
      line('dispose of waiters, 2 buckets', 'A | A | D', { permits: [0], buckets: 2 }),
      line('dispose of 3 waiters', 'A | A | A | D', { permits: [0], buckets: 2, long: true }),
      line('two semaphores, posted', "A | A' | V V'", { permits: [0, 0] }),
      line('two semaphores, posted twice', "A A | A' A' | V2 V2'", { permits: [0, 0] }),
      line('the end of threads', 'A R E | A R E | A R E', { buckets: 2, long: threshold === 1 }),
    ];
  }),
);

/**
 * Models of the hashes. With each hash, a waiter and a releasing thread must come to the same bucket, and a release of
 * many permits must come to all buckets. With the hash `paired`, it takes more tickets in a row to come to all buckets.
 * The listings above use the first HASH_* of core/papers/words.ts.
 */
const hashes: readonly Line[] = (['paired', 'orbit', 'gray', 'mixed'] as const).flatMap((name, i): Line[] => {
  const line = (text: string, kind: NonNullable<Line['kind']>, program: string, more: Partial<Line> = {}): Line => ({
    name: `hash ${name}: ${text}`,
    program,
    kind,
    hash: i + 1,
    permits: [1],
    threshold: kind === 'twa' ? 1 : 0,
    buckets: 2,
    ...more,
  });
  const release = { permits: [0], first: WRAP };
  return [
    line('3x1', 'twa', 'A R | A R | A R', { first: WRAP }),
    line('release of 3', 'twa', 'A | A | A | V3', { ...release, threshold: 0 }),
    line('release of 3, 4 buckets', 'twa', 'A | A | A | V3', { ...release, buckets: 4, long: true }),
    line('two semaphores', 'twa', "A | A' | V V'", { permits: [0, 0], buckets: 1 }),
    line('chain, release of 3', 'chain', 'A A | A | V3', release),
    line('channel, release of 3', 'channel', 'A A | A | V3', release),
    line('location, release of 3', 'location', 'A A | A | V3', release),
  ];
});

const variants: readonly Line[] = VARIANTS.flatMap(([name, kind, variant]): Line[] => {
  const line = (text: string, program: string, more: Partial<Line> = {}): Line => ({
    name: `${name}: ${text}`,
    program,
    permits: [1],
    kind,
    ...variant,
    ...more,
  });
  return [
    line('2x1 conservative', 'A R | A R', { kind: `${kind} conservative` }),
    line('dispose of a waiter', 'A | D', { permits: [0] }),
    line('2x2 2 buckets', 'A R A R | A R A R', { buckets: 2 }),
    line('3x1', 'A R | A R | A R'),
    line('2 wait twice, 2 buckets', 'A A | A A | V2 V2', { buckets: 2, permits: [0], long: true }),
    line('release of 2, 2 buckets', 'A | A | V2', { permits: [0], buckets: 2 }),
    line('dispose', 'A R | A R | D'),
    line('the end of threads', 'A R E | A R E', { buckets: 2 }),
  ];
});

/**
 * Waiters that pause in proportion to their distance. The models show that these pauses do no harm. They do not show
 * that waiters pause: a core that ignored the delay would pass the models, too.
 */
const delays: readonly Line[] = [1, 2].flatMap((delay): Line[] => {
  const line = (text: string, program: string, more: Partial<Line> = {}): Line => ({
    name: `ticket, delay ${delay}: ${text}`,
    program,
    permits: [1],
    kind: 'delayed',
    delay,
    spin: 2,
    ...more,
  });
  return [
    line('2x1 polling', 'A R | A R'),
    line('3x1 wrap, polling', 'A R | A R | A R', { spin: 1, first: WRAP }),
    line('release of 2, polling', 'A | A | V2', { permits: [0] }),
    line('dispose, polling', 'A | A | D', { permits: [0] }),
  ];
});

/** Waiters that poll while they are near, and park at once while they are far. */
const farParks: readonly Line[] = (['twa', 'chain', 'channel', 'location'] as const).flatMap((kind): Line[] => {
  const line = (text: string, program: string, more: Partial<Line> = {}): Line => ({
    name: `${kind} 1, far parks: ${text}`,
    program,
    permits: [1],
    kind,
    threshold: 1 | constant('FAR_PARKS'),
    spin: 2,
    buckets: 2,
    ...more,
  });
  return [
    line('3x1 wrap, polling', 'A R | A R | A R', { first: WRAP }),
    line('release of 2, polling', 'A | A | V2', { permits: [0] }),
    line('dispose of waiters, polling', 'A | A | D', { permits: [0] }),
  ];
});

const lines = [...listings, ...delays, ...farParks, ...chains, ...variants, ...thresholds, ...hashes];

export const models: readonly Model[] = lines.map(modelOf);
