/**
 * Calls `run`, or another method, of each Once, with a function that counts its calls in a word. With `fails` the first
 * call of the function throws. Returns how many calls of this thread have run the function to its end (`called`), how
 * many have returned before the function had ended in any thread (`early`), and in how many it threw (`failed`).
 */
import { attach, meet, spin } from '../attach.mjs';

export default async function runOnce({ handles, words, barrier, parties, method = 'run', lasts = 0, fails = false }) {
  const all = handles.map((handle) => attach(handle));
  meet(barrier, parties);
  let [called, early, failed] = [0, 0, 0];
  for (const [i, once] of all.entries()) {
    const fn = () => {
      spin(lasts);
      if (Atomics.add(words, 2 * i, 1) === 0 && fails) throw new Error('the first fails');
      Atomics.store(words, 2 * i + 1, 1);
    };
    try {
      if (await once[method](fn)) called++;
    } catch (error) {
      if (error.message !== 'the first fails') throw error;
      failed++;
      continue;
    }
    if (Atomics.load(words, 2 * i + 1) !== 1) early++;
  }
  return { called, early, failed };
}
