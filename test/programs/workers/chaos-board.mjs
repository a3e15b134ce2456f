/** What the threads of chaos.mjs share: the semaphores, and the shared words for notes and counts. */
import { Arena } from 'taketurns';

export const SLOTS = 16;

export const kinds = [
  { name: 'a lock', permits: 1, least: 1, most: 1, robust: true },
  { name: 'heavy', permits: 7, least: 4, most: 7, robust: true },
  { name: 'heavy and light', permits: 7, least: 1, most: 7, robust: true },
  { name: 'not robust', permits: 7, least: 1, most: 3, robust: false },
];
export const PLAIN = 3;

/** Whether a worker has stopped when its exit is reported. In Deno and Bun it may go on for a while and write notes. */
export const isEndExact = !('Deno' in globalThis || 'Bun' in globalThis);

/** The message of the error with which a worker ends itself. */
export const ON_PURPOSE = 'on purpose';

const names = ['admitted', 'refused', 'timedOut', 'aborted', 'halfWritten', 'told', 'disposed'];
const faults = ['out of turn', 'out of order', 'more held than there are'];

export function makeBoard() {
  const shared = (bytes) => new SharedArrayBuffer(bytes);
  return {
    /** Word 0: 1 makes every worker stop. The counts, the faults and the longest wait follow. */
    words: new Int32Array(shared(4 * (2 + names.length + faults.length))),
    /** One word for each semaphore, so that one read sees all slots. Four bits for each slot count the permits held. */
    held: new BigUint64Array(shared(8 * kinds.length)),
    /** For each semaphore, the first ticket after those of the latest admission. */
    last: new BigInt64Array(shared(8 * kinds.length)),
    /** For each slot, how many permits of the semaphore that is not robust the worker asks for or holds. */
    asked: new Int32Array(shared(4 * SLOTS)),
  };
}

export const hasStopped = ({ words }) => Atomics.load(words, 0) === 1;
export const stop = ({ words }) => Atomics.store(words, 0, 1);
export const count = ({ words }, name, n = 1) => Atomics.add(words, 1 + names.indexOf(name), n);
export const countsOf = ({ words }) => Object.fromEntries(names.map((name, i) => [name, words[1 + i]]));
export const faultsOf = ({ words }) => Object.fromEntries(faults.map((name, i) => [name, words[1 + names.length + i]]));

const fault = ({ words }, name) => Atomics.add(words, 1 + names.length + faults.indexOf(name), 1);

/** Records the wait of an admitted request without a time-out, and how many permits went to others ahead of it. */
export function noteWait({ words }, milliseconds, ahead) {
  const at = words.length - 1;
  const entry = (Math.min(Math.round(milliseconds), 0x7fff) << 16) | Math.min(ahead, 0xffff);
  for (let most = Atomics.load(words, at); most < entry; most = Atomics.load(words, at))
    Atomics.compareExchange(words, at, most, entry);
}

export function longestWait({ words }) {
  const entry = words[words.length - 1];
  return { milliseconds: entry >>> 16, permitsAhead: entry & 0xffff };
}

/** Returns the grant of a semaphore: how many permits were given out or passed on, from ticket 0 on. */
export function grantOf({ handle }) {
  return Atomics.load(new BigInt64Array(handle.arena.memory.buffer), (handle.address >> 3) + 1);
}

const shift = (slot) => BigInt(4 * slot);

function total(held) {
  let sum = 0;
  for (let rest = held; rest > 0n; rest >>= 4n) sum += Number(rest & 15n);
  return sum;
}

/**
 * Records the admission of a request for n permits whose first ticket is `ticket`, and checks the order. No request may
 * be admitted before all permits up to its last ticket were given out, so none overtakes. If requests exclude each
 * other, each must begin where the one before ended, or behind it.
 */
export function noteAdmission(board, semaphore, i, n, ticket, slot) {
  const { permits, least } = kinds[i];
  count(board, 'admitted');
  if (slot !== undefined) {
    const before = Atomics.add(board.held, i, BigInt(n) << shift(slot));
    // At the end chaos.mjs adds permits to the semaphore that is not robust, after it has told every worker to stop.
    const exact = isEndExact && !(i === PLAIN && hasStopped(board));
    if (exact && total(before) + n > permits) fault(board, 'more held than there are');
  }
  const end = ticket + BigInt(n);
  if (grantOf(semaphore) < end) fault(board, 'out of turn');
  if (least * 2 > permits && Atomics.exchange(board.last, i, end) > ticket) fault(board, 'out of order');
}

/** Records that the permits are about to go back. */
export function noteRelease(board, i, n, slot) {
  Atomics.sub(board.held, i, BigInt(n) << shift(slot));
}

/**
 * Clears the slot of a worker that has ended, so that the worker counts as a holder no more. Gives back its permits of
 * the semaphore that is not robust. Returns how many more of these permits the worker asked for or held without a
 * record.
 */
export function clear(board, slot, plain) {
  const mine = 15n << shift(slot);
  const noted = kinds.map((_, i) => Number((Atomics.and(board.held, i, ~mine) & mine) >> shift(slot)));
  if (noted[PLAIN] > 0) plain.release(noted[PLAIN]);
  return Atomics.exchange(board.asked, slot, 0) - noted[PLAIN];
}

/** Returns a generator of random numbers from 0 to 1, which differ with the seed. */
export function random(seed) {
  let x = (seed * 2654435761 + 12345) >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

export const arenaOf = ({ handle }) => Arena.from(handle.arena);
