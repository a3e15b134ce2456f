/**
 * Meets the others at a barrier, round after round. Before it arrives, it writes the round to a word of its own. When
 * it goes on, it looks at the words of all threads. Returns its places of arrival, and how many words were a round
 * behind.
 */
import { attach, random, spin } from '../attach.mjs';

export default async function meetInRounds({ handle, rounds, words, index, asks = 'arriveAndWait', think = 0 }) {
  const barrier = attach(handle);
  const draw = random(index + 1);
  const places = [];
  let behind = 0;
  for (let round = 1; round <= rounds; round++) {
    spin(draw() * think);
    Atomics.store(words, index, round);
    const place = barrier[asks]();
    places.push(typeof place === 'number' ? place : await place);
    for (let i = 0; i < words.length; i++) if (Atomics.load(words, i) < round) behind++;
  }
  barrier.leave();
  return { places, behind };
}
