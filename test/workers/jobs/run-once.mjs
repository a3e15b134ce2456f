/**
 * Runs a function by each Once. The function counts in a word. Returns how often the function was called in this
 * thread, and how often the call of `run` returned before the function had ended.
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
