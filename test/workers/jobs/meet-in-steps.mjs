/**
 * Meets more and more threads: barrier j has j + 1 parties, which are the threads 0 to j. At each barrier a thread
 * counts in a word and then meets the others twice. Between the two meetings, thread 0 checks that all have counted.
 * After them it checks that exactly one thread was the last to come to the first meeting. Returns how often a check has
 * failed.
 */
import { attach } from '../attach.mjs';

export default function meetInSteps({ handles, rounds, words, index }) {
  const barriers = handles.map((handle) => attach(handle));
  const counted = words.subarray(0, barriers.length);
  const last = words.subarray(barriers.length);
  let wrong = 0;
  for (let round = 0; round < rounds; round++) {
    if (index === 0) words.fill(0);
    barriers.at(-1).arriveAndWait();
    for (let j = index; j < barriers.length; j++) {
      Atomics.add(counted, j, 1);
      const place = barriers[j].arriveAndWait();
      if (index === 0 && Atomics.load(counted, j) !== j + 1) wrong++;
      if (place === j) Atomics.add(last, j, 1);
      barriers[j].arriveAndWait();
      if (index === 0 && Atomics.load(last, j) !== 1) wrong++;
    }
  }
  for (const barrier of barriers) barrier.leave();
  return wrong;
}
