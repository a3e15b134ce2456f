/** Uses a KeyedMutex or a KeyedSemaphore: by `does`, one of the functions below. */
import { attach, meet, note, random, spin } from '../attach.mjs';

/** Guards that the thread never gives back. */
const forEver = [];

const jobs = {
  /** Holds keys for ever, one after the other. Returns for each whether an owner had died. */
  keep(table, { keys, permits = [] }) {
    return keys.map((key) => {
      const held = table.hold(key, ...permits);
      forEver.push(held);
      return held.ownerDied;
    });
  },

  /** Blocks for a key, notes this in a log, and gives the key back. Returns whether an owner had died. */
  pass(table, { key, options, log }) {
    const held = table.hold(key, options);
    if (log) note(log, 1);
    const { ownerDied } = held;
    held[table.permits ? 'release' : 'unlock']();
    return ownerDied;
  },

  /** Holds keys by one call, and gives them back. */
  passAll(table, { keys, options }) {
    const held = table.holdAll(keys, options);
    held.unlock();
    return held.keys;
  },

  /**
   * Adds 1 to the word of a key, again and again, for keys drawn at random: first the half of them that all threads
   * share, and then by promises. Nothing but the lock keeps two threads from adding at once.
   */
  async count(table, { words, rounds, index, barrier, parties }) {
    const draw = random(index + 1);
    meet(barrier, parties);
    for (let i = 0; i < rounds; i++) {
      const n = Math.floor(draw() * words.length);
      // Every second key is a string.
      const key = n % 2 ? n : `key ${n}`;
      const add = () => {
        const seen = words[n];
        spin(20);
        words[n] = seen + 1;
      };
      if (i % 4 === 3) await table.runExclusive(key, add);
      else {
        const held = table.hold(key);
        add();
        held.unlock();
      }
    }
  },

  /** Moves 1 from word to word, for pairs of keys drawn at random, which it holds together. */
  async transfer(table, { words, rounds, index, barrier, parties }) {
    const draw = random(index + 1);
    meet(barrier, parties);
    for (let i = 0; i < rounds; i++) {
      const [from, to] = [draw(), draw()].map((n) => Math.floor(n * words.length));
      const held = i % 4 === 3 ? await table.holdAllAsync([from, to]) : table.holdAll([from, to]);
      words[from]--;
      spin(20);
      words[to]++;
      held.unlock();
    }
  },

  /** Takes and gives back so many keys that no other thread uses. */
  visit(table, { from, to }) {
    for (let i = from; i < to; i++) table.hold(`visited ${i}`).unlock();
  },
};

export default function ({ handle, does, ...args }) {
  return jobs[does](attach(handle), args);
}
