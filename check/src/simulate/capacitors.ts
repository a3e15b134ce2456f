/** Makes the contenders that are locks in a capacitor, with the calls that CapacitorLock makes. */
import { ADMITTED } from '../scene/layout.js';
import {
  type Call,
  type Contender,
  type Inner,
  type Made,
  MORE,
  TWA_THRESHOLD,
  type Visitor,
  WITHOUT_END,
} from './contender.js';
import { lanesEnter, lanesLeave, listingEnter, listingLeave } from './semaphores.js';

/** The size of a platoon, as in the paper. */
const PLATOON = 10;
const LANES = 4;
/** The share of the threads that go past a fractional capacitor. */
const FRACTION = 0.99;

const platoon = (size = PLATOON): Made => ({
  kind: 'KIND_CAPACITOR',
  spin: WITHOUT_END,
  threshold: TWA_THRESHOLD,
  permits: size,
  most: size,
});

/** The calls around the inner lock, which is object `at`. */
interface Gate {
  readonly arrive: (visitor: Visitor) => Call;
  readonly depart: (visitor: Visitor) => Call;
}

/** Departs from a platoon of this size. The last thread that departs calls `open`. */
const depart = (size: number, open: Call, on = 0): Call => ({
  name: 'capacitorDepart',
  on,
  args: () => [size],
  next: (answer) => (answer === MORE ? [open] : []),
});

/** A thread that goes past a capacitor reads its grant, to notice a dispose. This call is one load of grant. */
const READ_GRANT: Call = { name: 'eventRead' };

const gate = (kind: 'ticket' | 'twa'): Gate => ({
  arrive: () => listingEnter(kind),
  depart: () => depart(PLATOON, listingLeave(kind, PLATOON)),
});

function through({ lock, unlock }: Inner, { arrive, depart }: Gate, at: number): Pick<Contender, 'enter' | 'leave'> {
  return {
    enter: (visitor) => {
      visitor.past = false;
      return [arrive(visitor), { name: lock, on: at }];
    },
    leave: (visitor) => [{ name: unlock, on: at }, ...(visitor.past ? [] : [depart(visitor)])],
  };
}

/** Returns the lock in a capacitor whose waiters are in the waiting array. */
export function wrapped(inner: Inner): Contender {
  return {
    name: `${inner.name}, wrapped`,
    program: 'algorithms',
    objects: [platoon(), inner.made],
    ...through(inner, gate('twa'), 1),
    of: 'locks',
  };
}

/**
 * Returns the lock in all kinds of capacitors that `wrapped` does not make, and in a plain semaphore with as many
 * permits as a platoon has threads.
 */
export function capacitors(inner: Inner): Contender[] {
  const { name, made, lock, tryLock, unlock } = inner;
  const form = (suffix: string, objects: readonly Made[], calls: Pick<Contender, 'enter' | 'leave'>): Contender => ({
    name: `${name}, ${suffix}`,
    program: 'algorithms',
    objects,
    ...calls,
    of: 'capacitors',
  });
  const usual = through(inner, gate('twa'), 1);
  return [
    form('on grant', [platoon(), made], through(inner, gate('ticket'), 1)),
    ...[1, LANES].map((n) =>
      form(
        n === 1 ? '1 lane' : `${n} lanes`,
        [platoon(), ...lanesOf(n, PLATOON), made],
        through(inner, lanesInTurn(n), 1 + n),
      ),
    ),
    form(
      `${LANES} lanes at random`,
      [platoon(), ...lanesOf(LANES, SHARE), made],
      through(inner, LANES_AT_RANDOM, 1 + LANES),
    ),
    form('99 of 100 past', [platoon(), made], {
      ...usual,
      enter: (visitor) => {
        const calls = usual.enter(visitor);
        visitor.past = visitor.dice() < FRACTION;
        return visitor.past ? [READ_GRANT, { name: lock, on: 1 }] : calls;
      },
    }),
    form('when contended', [platoon(), made], { ...usual, enter: whenContended(usual.enter, tryLock) }),
    form(
      `${PLATOON} permits`,
      [{ kind: 'KIND_TWA_SEMAPHORE', spin: WITHOUT_END, threshold: 1, permits: PLATOON }, made],
      {
        enter: () => [listingEnter('twa'), { name: lock, on: 1 }],
        leave: () => [{ name: unlock, on: 1 }, listingLeave('twa')],
      },
    ),
  ];
}

/** The lanes are objects 1 to n. */
const lanesOf = (n: number, size: number): Made[] => Array.from({ length: n }, () => platoon(size));

const lanesInTurn = (n: number): Gate => ({
  arrive: () => lanesEnter(n),
  depart: () => depart(PLATOON, lanesLeave(n, PLATOON)),
});

/** The size of a platoon of a lane that is chosen at random. */
const SHARE = Math.ceil(PLATOON / LANES);

const LANES_AT_RANDOM: Gate = {
  arrive: (visitor) => {
    visitor.lane = 1 + Math.floor(visitor.dice() * LANES);
    return listingEnter('twa', visitor.lane);
  },
  depart: ({ lane }) => depart(SHARE, listingLeave('twa', SHARE, lane), lane),
};

/** Goes past the capacitor if nobody is inside and the lock is free. */
function whenContended(enter: Contender['enter'], tryLock: string): Contender['enter'] {
  return (visitor: Visitor) => [
    {
      name: 'capacitorIsIdle',
      args: () => [PLATOON],
      next: (idle) => {
        if (idle === 0) return enter(visitor);
        const next = (answer: number): readonly Call[] => {
          if (answer !== ADMITTED) return enter(visitor);
          visitor.past = true;
          return [];
        };
        return [{ name: tryLock, on: 1, next }];
      },
    },
  ];
}
