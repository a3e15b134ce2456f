/** For one group after the other: when the round of the group has begun, counts in a word, and ends a task. */
import { attach, poll } from '../attach.mjs';

export default function countAndDone({ handles, words, round }) {
  for (const [i, handle] of handles.entries()) {
    poll(() => Atomics.load(round, 0) > i);
    const group = attach(handle);
    Atomics.add(words, i, 1);
    group.done();
  }
}
