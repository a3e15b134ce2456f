/** What the threads of unwatched.mjs share: words for counts, faults and orders. Each word has a name. */
export const SLOTS = 6;
/** The message of the error with which a worker ends itself. */
export const ON_PURPOSE = 'on purpose';

const FAULTS = [
  'two threads in one section',
  'a writer beside another',
  'a writer beside a reader',
  'a latch refuses a count that it has',
  'a latch is open and has a count',
  'two threads do it at a time',
  'it is done again',
  'one goes on, and it is not done',
];
/** Words with the numbers of the present objects, from 1 on. When an object has come to its end, a new one is made. */
const NUMBERS = ['barrier', 'latch', 'once'];
const SINGLE = [
  'stop',
  'inside',
  'writes',
  'ids',
  'sections',
  'started',
  'killed',
  'runner',
  'runner at',
  'runner generation',
  'last done',
  'rounds',
  'openings',
  ...NUMBERS,
  ...FAULTS,
];
const PER_SLOT = ['up', 'killChild'];

const at = (name, slot = 0) => {
  const i = PER_SLOT.indexOf(name);
  return i < 0 ? SINGLE.indexOf(name) : SINGLE.length + i * SLOTS + slot;
};

export function newWords() {
  const words = new Int32Array(new SharedArrayBuffer(4 * (SINGLE.length + PER_SLOT.length * SLOTS)));
  for (const name of NUMBERS) words[at(name)] = 1;
  return words;
}
export const get = (words, name, slot) => Atomics.load(words, at(name, slot));
export const put = (words, name, value, slot) => Atomics.exchange(words, at(name, slot), value);
export const swap = (words, name, from, to) => Atomics.compareExchange(words, at(name), from, to);
export const add = (words, name, n = 1) => Atomics.add(words, at(name), n);
export const faultsOf = (words) => Object.fromEntries(FAULTS.map((name) => [name, get(words, name)]));

/** Returns a generator of random numbers from 0 to 1, which differ with the seed. */
export { random } from './chaos-board.mjs';
