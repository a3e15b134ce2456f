/** Waits by a key until a word of `turns` is high enough, for each round in turn; then adds to the next word. */
import { Arena } from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import { meet } from '../attach.mjs';

const ways = {
  address(key, satisfied, options, polite) {
    const { addressWaitUntil, addressSignal, addressSignalPolite } = algorithms;
    return {
      wait: () => addressWaitUntil(key, satisfied, options),
      wake: (next) => (polite ? addressSignalPolite : addressSignal)(next, options),
    };
  },
  key(key, satisfied, options, polite) {
    const { keyMonitor, keyWait, keySignal, keySignalPolite } = algorithms;
    return {
      wait: () => {
        while (true) {
          const sequence = keyMonitor(key, options);
          if (satisfied()) return;
          keyWait(key, sequence, options);
        }
      },
      wake: (next) => (polite ? keySignalPolite : keySignal)(next, options),
    };
  },
  lazy(key, satisfied, options, polite) {
    const { keyWaitLazy } = algorithms;
    return {
      ...ways.key(key, satisfied, options, polite),
      wait: () => {
        let sequence = -1n;
        while (!satisfied()) sequence = keyWaitLazy(key, sequence, options);
      },
    };
  },
  location(key, satisfied, options) {
    const { locationWait, locationWakeAll } = algorithms;
    return {
      wait: () => {
        while (!satisfied()) locationWait(key, options);
      },
      wake: (next) => locationWakeAll(next, options),
    };
  },
};

export default function byKey({ arena: handle, way, turns, rounds, spin, index, barrier, parties }) {
  const options = { arena: Arena.from(handle), spin };
  const next = (index + 1) % parties;
  let round = 1;
  const satisfied = () => Atomics.load(turns, index) >= round;
  meet(barrier, parties);
  for (; round <= rounds; round++) {
    const { wait, wake } = ways[way](index, satisfied, options, round % 2);
    wait();
    Atomics.add(turns, next, 1);
    wake(next);
  }
}
