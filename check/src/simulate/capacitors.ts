/** Makes the locks in a capacitor that are simulated, with the calls that CapacitorLock makes. */
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
import { listingEnter, listingLeave } from './semaphores.js';

/** The size of a platoon, as in the paper. */
const PLATOON = 10;
const LANES = 4;
/** How many of a hundred threads go past a fractional capacitor. */
const FRACTION = 0.99;
/** The threshold of a capacitor whose waiters wait on grant. */
const ON_GRANT = -1;

const platoon = (threshold = TWA_THRESHOLD): Made => ({
  kind: 'KIND_CAPACITOR',
  spin: WITHOUT_END,
  threshold,
  permits: PLATOON,
  most: PLATOON,
});

/** The calls around the inner lock, which is object `at`. */
interface Gate {
  readonly arrive: Call;
  readonly depart: Call;
}

const GATE: Gate = { arrive: { name: 'capacitorArrive' }, depart: { name: 'capacitorDepart' } };

const own = (arrived: number): Call => ({ name: 'capacitorOwn', args: () => [arrived] });

function through({ lock, unlock }: Inner, gate: Gate, at: number): Pick<Contender, 'enter' | 'leave'> {
  return {
    enter: (visitor) => {
      visitor.past = false;
      return [gate.arrive, { name: lock, on: at }, own(1)];
    },
    leave: ({ past }) => [{ name: 'capacitorDisown' }, { name: unlock, on: at }, ...(past ? [] : [gate.depart])],
  };
}

/** Returns the lock in a capacitor whose waiters are in the waiting array. */
export function wrapped(inner: Inner): Contender {
  return {
    name: `${inner.name}, wrapped`,
    program: 'algorithms',
    objects: [platoon(), inner.made],
    ...through(inner, GATE, 1),
    of: 'locks',
  };
}

/** Returns the lock in every other kind of capacitor, and in a plain semaphore with as many permits as a platoon. */
export function capacitors(inner: Inner): Contender[] {
  const { name, made, lock, tryLock, unlock } = inner;
  const form = (suffix: string, objects: readonly Made[], calls: Pick<Contender, 'enter' | 'leave'>): Contender => ({
    name: `${name}, ${suffix}`,
    program: 'algorithms',
    objects,
    ...calls,
    of: 'capacitors',
  });
  const usual = through(inner, GATE, 1);
  return [
    form('on grant', [platoon(ON_GRANT), made], usual),
    form(
      `${LANES} lanes`,
      [platoon(ON_GRANT), ...Array.from({ length: LANES }, () => platoon(ON_GRANT)), made],
      through(inner, lanes(), 1 + LANES),
    ),
    form('99 of 100 past', [platoon(), made], {
      ...usual,
      enter: (visitor) => {
        const calls = usual.enter(visitor);
        visitor.past = visitor.dice() < FRACTION;
        return visitor.past ? [{ name: lock, on: 1 }, own(0)] : calls;
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

/** The lanes are objects 1 to LANES. */
function lanes(): Gate {
  const open = (i: number): Call => ({ name: 'capacitorOpenLane', args: ({ objects }) => [objects[1 + i], i, LANES] });
  return {
    arrive: {
      name: 'capacitorArriveInLanes',
      args: () => [LANES],
      next: (answer) => (answer === ADMITTED ? [] : [{ name: 'capacitorAwait', on: answer }]),
    },
    depart: {
      name: 'capacitorDepartFromLanes',
      next: (answer) => (answer === MORE ? Array.from({ length: LANES }, (_, i) => open(i)) : []),
    },
  };
}

/** Goes past the capacitor if nobody is inside and the lock is free. */
function whenContended(enter: Contender['enter'], tryLock: string): Contender['enter'] {
  return (visitor: Visitor) => [
    {
      name: 'capacitorIsIdle',
      next: (idle) => {
        if (idle === 0) return enter(visitor);
        const next = (answer: number): readonly Call[] => {
          if (answer !== ADMITTED) return enter(visitor);
          visitor.past = true;
          return [own(0)];
        };
        return [{ name: tryLock, on: 1, next }];
      },
    },
  ];
}
