/**
 * The shared words in which the threads of a program note what they do: who is inside which lock, what each thread
 * holds, and which call it is in. A thread may be killed at any moment, between any two notes. So the notes are written
 * in such an order that it does no harm if the later ones are missing.
 */
export const OBJECTS = 12;
/**
 * The most threads of a program, over its whole run. Each thread is a life, with a number. The main thread is life 0.
 */
export const LIVES = 40;
/**
 * How many tasks of a life have a number: four tasks, the stretches in which the thread blocks, and five of callbacks.
 */
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
/**
 * Words of an object. Of a barrier, the words from ROUNDS on count how many calls arrived as the first of a round, as
 * the second, and so on.
 */
export const [INSIDE, ITEMS, NOTIFIED, WOKEN, RETURNS, ASKS_BEGUN, ASKS_DONE, DONE, LEFT, RIGHT, EXTRA, ROUNDS] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16,
];
/** Another word of an object: how often some life has changed its note about the object. */
const CHANGES = 11;
const PER_OBJECT = 32;
const PLACE = OBJECT + PER_OBJECT * OBJECTS;
/**
 * Words of a place, which stands for a request in line: since when the request stands there, the life that made it, how
 * many calls of cancelAll there were before, and how many requests have overtaken it.
 */
const PER_PLACE = 4;
const LIFE = PLACE + PER_PLACE * PLACES * OBJECTS;
/** Words of a pair of a life and an object: what the life holds of the object, and what it has asked for. */
export const [HELD, ASKED] = [0, 1];
const PER_PAIR = 2;
const DOING = LIFE + PER_PAIR * OBJECTS * LIVES;
/** A word for each life: how many objects it has made for itself. */
const MADE = DOING + TASKS * LIVES;
const NAME = MADE + LIVES;
/** The most names of calls. A name has at most 20 letters. */
const NAMES = 160;
const PER_NAME = 6;
const WORDS = NAME + PER_NAME * NAMES;
/** What `onOwnerDied` throws if it repairs nothing. */
export const HALF_WRITTEN = 'half-written';
/** Whether the arena of a plan may be full. */
export const isTight = ({ arena }) => arena.threads < LIVES;
/** How often a thread reads the notes of all lives at most, to find them unchanged while it reads. */
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
   * Returns all lives whose word is not 0, with their words, as they were at one moment. For this it reads all words
   * until none has changed meanwhile. If they change each time, it returns nothing.
   *
   * A thread that gives something back changes its note before the call. A thread that gets something changes its note
   * after the call. So when something goes from one thread to another, the notes of both never count it at one moment.
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

  /**
   * Notes that a task begins a call of this name, perhaps of an object. Without a name, the task is in no call any
   * more.
   */
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
   * Returns the number of a name: the index of the entry in which some thread has written the name. The first word of
   * an entry is the length of the name, once the name is written. If two threads write the same name at the same time,
   * it may get two numbers.
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

  /** Writes a name in an entry, if the entry is free. Returns whether it was free. */
  #write(number, name) {
    if (number === NAMES || name.length > 4 * (PER_NAME - 1)) throw new Error(`the board has no room for ${name}`);
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

  /** Returns how often all requests of an object have been cancelled. Returns undefined while a `cancelAll` runs. */
  asks(object) {
    const asks = this.load(object, ASKS_DONE);
    return this.load(object, ASKS_BEGUN) === asks ? asks : undefined;
  }

  /**
   * Notes that a request stands in the queue from now on. Returns its place. Returns undefined if no place is free, or
   * if the request may have been cancelled. `asks` is what the method `asks` answered before the request was made.
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

  /**
   * Notes that a request stands in the queue no more: it was admitted, or its promise was rejected. If it was
   * overtaken, returns since when it stood there.
   */
  goOn(place) {
    if (place === undefined) return undefined;
    const since = Atomics.exchange(this.words, place, 0);
    const isOvertaken = Atomics.load(this.words, place + 3) > 0;
    Atomics.store(this.words, place + 1, 0);
    return isOvertaken ? since : undefined;
  }

  /**
   * Notes that a request of this life gives back what it has got, before its caller is told. It is not known which
   * request that is, so no request of this life counts as in line any more.
   */
  givesBack(object, life) {
    for (let i = 0; i < PLACES; i++) {
      const at = this.#place(object, i);
      if (Atomics.load(this.words, at + 1) === life + 1) Atomics.store(this.words, at, 0);
    }
  }

  /**
   * Notes that a request that began at the tick `begun` is admitted, and excludes all others. It has overtaken each
   * request that stood in line before it began. Returns the places of requests that have now been overtaken more than
   * `bound` times.
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

  /**
   * Whether the request of a place still stands there in the end. Then its thread has died, and it was never admitted.
   */
  standsStill({ place, since }) {
    return Atomics.load(this.words, place) === since;
  }
}
