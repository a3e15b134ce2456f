/** In each round, waits by a key until the word of this thread is high enough, and then raises that of the next. */
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
  looking: (key, satisfied, options, polite) => ways.address(key, satisfied, { ...options, look: 20 }, polite),
  channel(key, satisfied, options, polite) {
    const channel = algorithms.channelOf(key, options);
    return {
      wait: () => {
        while (true) {
          const sequence = channel.monitor();
          if (satisfied()) return;
          channel.wait(sequence);
        }
      },
      wake: (next) => {
        const other = algorithms.channelOf(next, options);
        if (polite) other.signalPolite();
        else other.signal();
      },
    };
  },
  location(key, satisfied, options, polite) {
    const { locationWait, locationWakeAll, locationWakeAllPolite } = algorithms;
    return {
      wait: () => {
        while (!satisfied()) locationWait(key, options);
      },
      wake: (next) => (polite ? locationWakeAllPolite : locationWakeAll)(next, options),
    };
  },
  // Each round has a location of its own. So a thread often leaves an element behind at the location of another round.
  alternating(key, satisfied, options, polite, round) {
    const at = (index, of) => index + 100 * of;
    const { wait, wake } = ways.location(at(key, round), satisfied, { ...options, alternating: true }, polite);
    return { wait, wake: (next, of) => wake(at(next, of)) };
  },
};

export default function byKey({ arena: handle, way, turns, rounds, spin, index, barrier, parties }) {
  const options = { arena: Arena.from(handle), spin };
  const next = (index + 1) % parties;
  let round = 1;
  const satisfied = () => Atomics.load(turns, index) >= round;
  meet(barrier, parties);
  for (; round <= rounds; round++) {
    const { wait, wake } = ways[way](index, satisfied, options, round % 2, round);
    wait();
    const its = Atomics.add(turns, next, 1) + 1;
    wake(next, its);
  }
}
