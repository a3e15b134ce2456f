/**
 * The shared words in which the threads of a program note what they do: who is inside which lock, what each thread holds,
 * and what it is doing. A thread is killed at any moment, so the notes are written in an order in which the loss of what
 * follows does no harm.
 */
export const OBJECTS = 12;
/** The most threads of a program, one after the other: the main thread is life 0. */
export const LIVES = 40;
/** Tasks of a life that have numbers of their own: four, the stretches in which it blocks, and five of callbacks. */
export const TASKS = 10;
export const STRETCH = 4;
const OF_CALLBACKS = 5;
export const ofCallback = (n) => STRETCH + 1 + (n % OF_CALLBACKS);
const PLACES = 24;

export const COUNTS = [
  'operations',
  'admitted',
  'refused',
  'timedOut',
  'aborted',
  'cancelled',
  'disposed',
  'told',
  'full',
  'halfWritten',
  'callbacks',
  'interrupts',
  'found',
];
const [STOP, CLOCK, ENDING] = [0, 1, 2];
const COUNT = 4;
const OBJECT = 32;
/** Words of an object. From ROUNDS on each counts the arrivals at a barrier that were the first, the second, and so on. */
export const [INSIDE, ITEMS, NOTIFIED, WOKEN, RETURNS, ASKS_BEGUN, ASKS_DONE, DONE, LEFT, RIGHT, EXTRA, ROUNDS] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16,
];
/** How often a note of a life about the object has changed. */
const CHANGES = 11;
const PER_OBJECT = 32;
const PLACE = OBJECT + PER_OBJECT * OBJECTS;
/** Words of a place: since when its request stands in line, whose it is, the cancels before it, and who went ahead. */
const PER_PLACE = 4;
const LIFE = PLACE + PER_PLACE * PLACES * OBJECTS;
/** Words of a life and an object. */
export const [HELD, ASKED] = [0, 1];
const PER_PAIR = 2;
const DOING = LIFE + PER_PAIR * OBJECTS * LIVES;
/** A word for each life: how many objects it has made for itself. */
const MADE = DOING + TASKS * LIVES;
const NAME = MADE + LIVES;
/** Calls have so many names at most, of 20 letters at most. */
const NAMES = 80;
const PER_NAME = 6;
const WORDS = NAME + PER_NAME * NAMES;
/** What `onOwnerDied` throws if it repairs nothing. */
export const HALF_WRITTEN = 'half-written';
/** Whether the arena of a plan may be full. */
export const isTight = ({ arena }) => arena.threads < LIVES;
/** How often a thread looks at the notes of all, until they have stood still. */
const LOOKS = 100;

export class Board {
  /** The numbers of the names that this thread has used. */
  #numbers = new Map();

  constructor(words = new Int32Array(new SharedArrayBuffer(4 * WORDS))) {
    this.words = words;
  }

  stop() {
    Atomics.store(this.words, STOP, 1);
  }

  get hasStopped() {
    return Atomics.load(this.words, STOP) !== 0;
  }

  /** From now on objects are disposed of while threads wait. */
  end() {
    Atomics.store(this.words, ENDING, 1);
  }

  get isEnding() {
    return Atomics.load(this.words, ENDING) !== 0;
  }

  /** Returns a number that is higher than all that it has returned before, in any thread. */
  tick() {
    return Atomics.add(this.words, CLOCK, 1) + 1;
  }

  count(name, n = 1) {
    return Atomics.add(this.words, COUNT + COUNTS.indexOf(name), n);
  }

  get counts() {
    return Object.fromEntries(COUNTS.map((name, i) => [name, Atomics.load(this.words, COUNT + i)]));
  }

  #at(object, word) {
    return OBJECT + PER_OBJECT * object + word;
  }

  load(object, word) {
    return Atomics.load(this.words, this.#at(object, word));
  }

  store(object, word, value) {
    Atomics.store(this.words, this.#at(object, word), value);
  }

  /** Returns the value before. */
  add(object, word, n) {
    return Atomics.add(this.words, this.#at(object, word), n);
  }

  /** Stores a value if the word has the expected one, and returns what the word had. */
  change(object, word, expected, value) {
    return Atomics.compareExchange(this.words, this.#at(object, word), expected, value);
  }

  or(object, word, bits) {
    return Atomics.or(this.words, this.#at(object, word), bits);
  }

  #pair(life, object, word) {
    return LIFE + PER_PAIR * (life * OBJECTS + object) + word;
  }

  note(life, object, word, n) {
    const noted = Atomics.add(this.words, this.#pair(life, object, word), n) + n;
    this.add(object, CHANGES, 1);
    return noted;
  }

  noted(life, object, word) {
    return Atomics.load(this.words, this.#pair(life, object, word));
  }

  /**
   * Returns the lives of which this word is not 0, with that, as they were at one moment. Who gives something back notes
   * that before, so the notes of the one before and of the one after never stand in one look that nothing has changed in.
   * Returns nothing if the notes do not stand still.
   */
  allNoted(object, word) {
    for (let looks = 0; looks < LOOKS; looks++) {
      const before = this.load(object, CHANGES);
      const found = [];
      for (let life = 0; life < LIVES; life++) {
        const value = this.noted(life, object, word);
        if (value !== 0) found.push([life, value]);
      }
      if (this.load(object, CHANGES) === before) return found;
    }
    return [];
  }

  /** The task begins a call of this name of an object, if there is one, or is in no call any more. */
  doing(life, task, name, object = -1) {
    const code = name === undefined ? 0 : (this.#numberOf(name) << 8) | (object + 1);
    Atomics.store(this.words, DOING + life * TASKS + (task % TASKS), code);
  }

  /** Returns the calls that the tasks of a life are in. */
  done(life) {
    const codes = Array.from({ length: TASKS }, (_, task) => Atomics.load(this.words, DOING + life * TASKS + task));
    const named = codes.filter((code) => code !== 0).map((code) => [this.#nameOf(code >> 8), (code & 0xff) - 1]);
    return named.map(([name, object]) => (object < 0 ? name : `${name} of object ${object}`));
  }

  /**
   * A name has the number of the place at which some thread has written it. The first word of a place says how long the
   * name is, once it is written. Two threads that write a name at the same time may give it two numbers.
   */
  #numberOf(name) {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = 1;
      while (this.#nameOf(number) !== name && !this.#write(number, name)) number++;
      this.#numbers.set(name, number);
    }
    return number;
  }

  #letters(number) {
    return new Uint8Array(this.words.buffer, 4 * (NAME + PER_NAME * number + 1), 4 * (PER_NAME - 1));
  }

  #nameOf(number) {
    return String.fromCharCode(
      ...this.#letters(number).subarray(0, Math.max(Atomics.load(this.words, NAME + PER_NAME * number), 0)),
    );
  }

  /** Returns whether the place was free. */
  #write(number, name) {
    if (number === NAMES) throw new Error('there are more names of calls than the board has room for');
    const at = NAME + PER_NAME * number;
    if (Atomics.compareExchange(this.words, at, 0, -1) !== 0) return false;
    this.#letters(number).set(Array.from(name, (letter) => letter.charCodeAt(0)));
    Atomics.store(this.words, at, name.length);
    return true;
  }

  makes(life, n) {
    Atomics.add(this.words, MADE + life, n);
  }

  made(life) {
    return Atomics.load(this.words, MADE + life);
  }

  // --- Who stands in line ----------------------------------------------------------------------------------

  #place(object, i) {
    return PLACE + PER_PLACE * (object * PLACES + i);
  }

  /** How often all requests of an object have been cancelled; undefined while somebody does so. */
  asks(object) {
    const asks = this.load(object, ASKS_DONE);
    return this.load(object, ASKS_BEGUN) === asks ? asks : undefined;
  }

  /**
   * A request stands in line from now on. Returns its place; undefined if none is free, or if the request may have been
   * cancelled: `asks` is what `asks` has answered before the request was made.
   */
  stand(object, life, asks) {
    if (asks === undefined || this.load(object, ASKS_BEGUN) !== asks) return undefined;
    for (let i = 0; i < PLACES; i++) {
      const at = this.#place(object, i);
      if (Atomics.compareExchange(this.words, at + 1, 0, life + 1) !== 0) continue;
      Atomics.store(this.words, at + 2, asks);
      Atomics.store(this.words, at + 3, 0);
      Atomics.store(this.words, at, this.tick());
      return at;
    }
    return undefined;
  }

  /** It stands in line no more: it has been admitted, or its promise was rejected. */
  goOn(place) {
    if (place === undefined) return;
    Atomics.store(this.words, place, 0);
    Atomics.store(this.words, place + 1, 0);
  }

  /** Some request of this life gives back what it has got before its caller is told. So none of them counts as in line. */
  givesBack(object, life) {
    for (let i = 0; i < PLACES; i++) {
      const at = this.#place(object, i);
      if (Atomics.load(this.words, at + 1) === life + 1) Atomics.store(this.words, at, 0);
    }
  }

  /**
   * A request that began at this tick is admitted, and excludes all others. Returns the places of requests that have been
   * overtaken more than `bound` times by requests that began when they stood in line.
   */
  overtakes(object, begun, bound) {
    const found = [];
    const asks = this.load(object, ASKS_BEGUN);
    for (let i = 0; i < PLACES; i++) {
      const at = this.#place(object, i);
      const since = Atomics.load(this.words, at);
      if (since === 0 || since > begun || Atomics.load(this.words, at + 2) !== asks) continue;
      if (Atomics.add(this.words, at + 3, 1) + 1 > bound) found.push({ place: at, since });
    }
    return found;
  }

  /** Whether the request of a place was never admitted: its thread has died. */
  standsStill({ place, since }) {
    return Atomics.load(this.words, place) === since;
  }
}
