/**
 * A thread that has blocked for a while looks whether it waits in a deadlock, and looks again as long as it waits.
 *
 *     sleep for a second ──► look ──► no circle ─────────────────────► sleep for 0.1 s, 0.2 s, 0.4 s, ..., look again
 *                             │         (and once say if the wait is likely to be a mistake)
 *                             │  ──► a circle that another one tells ► sleep for 3.2 s, 6.4 s, ..., look again
 *                             │  ──► perhaps a circle ───────────────► sleep for 20 ms, 40 ms, ..., look again
 *                             │  ──► a circle, `warn` ───────────────► say so once, sleep as if another one told it
 *                             └────► a circle, `throw` ──────────────► leave the queue, throw a DeadlockError
 *
 * Nobody looks on a fast path: the functions of the core in which a thread sleeps without a time limit are replaced,
 * for the calling thread, by functions that sleep with one. A wait shorter than a second is the same as ever.
 *
 * Who tells. One thread of each circle warns or throws: the one that went to sleep last, of those that can
 * (youngest.ts). All threads find the same one, by words in shared memory that do not change while the threads wait.
 *
 * Why no circle is missed. A circle lasts: its threads sleep, and none of them gives anything back. The thread that
 * tells looks again and again. So one of its looks begins after all the others have fallen asleep, however long a
 * thread takes between its last lock and its sleep, and also if the circle has closed without a sleep (`reduce` takes
 * permits away). If the thread that tells has blocked last, this is about a second later. If it had looked before, this
 * is its next look. Each pause is twice as long as the last of its kind, and at most a minute.
 *
 * A look fails if another thread of the circle is awake at this moment: it has just woken to look, or is about to fall
 * asleep after its look (confirm.ts). Then the thread that tells finds "perhaps a circle", and soon looks again. The
 * others find that another one tells it, and look again much later.
 *
 * Leaving is the same as at a time-out: `cancel`, or `cancelHead`. If the request has been granted meanwhile, the
 * thread has what it wanted, and does not throw. A thread whose wait on a `Condition` is over must lock the mutex
 * again, so it cannot leave: another thread of the circle throws. A thread that cannot leave because the arena has no
 * room for its tombstone warns, and tries again at its next look.
 *
 * A thread that blocks in `select` waits for channels and for semaphores without owners, so it is in no circle that
 * could be found. It looks for none, but tells its stack in report mode, as others do.
 */
import type { Channel } from '../border/channel.js';
import type { Core } from '../border/core.js';
import {
  ALIVE,
  ASLEEP,
  CANCELLED,
  H_DEADLOCKS,
  T_DOORBELL,
  T_FUTILE_WAKES,
  T_LIFE,
  TIMED_OUT,
} from '../border/numbers.js';
import type { Sync } from '../border/sync.js';
import { mark } from '../runtime/embedded.js';
import { epoch } from '../runtime/epoch.js';
import { ownWaitsIn } from '../runtime/own-waits.js';
import type { Listening, Measured, measureWaits } from './measure.js';
import { isMeasured, type Setting, settingOf } from './settings.js';
import { NONE, OTHERS, PERHAPS, type Verdict } from './verdicts.js';
import type { likelyMistake, Own, ownCircle } from './youngest.js';

/** The part of a membership that the looks need. */
export interface OwnMembership extends Measured {
  readonly core: Core;
}

/** What a thread needs to look for deadlocks. */
export interface LookTools extends Listening {
  /** Prints a warning, though the thread never returns to its event loop. */
  readonly say: (message: string) => void;
  readonly look: typeof ownCircle;
  /** Returns the memories of the arenas to which this thread is attached, but for one. */
  beside?: (memory: WebAssembly.Memory) => WebAssembly.Memory[];
  readonly likelyMistake: typeof likelyMistake;
  /**
   * In report mode, where another thread tells of deadlocks: tells it where this thread blocks. `at` is the present time
   * in milliseconds since 1970.
   */
  readonly tellStack?: ((arena: bigint, thread: number, at: number, stack: string) => void) | undefined;
  /** Whether the thread is the first one of the program, and may block. */
  readonly isMain: boolean;
  /** Undefined in a browser where nobody has begun metrics in this thread. */
  measure?: typeof measureWaits | undefined;
  /** Whether the thread has said that a wait is likely to be a mistake. */
  hasHinted?: boolean;
}

/** The milliseconds of the first pause after a look with this answer. Each later one is twice as long. */
const PAUSES = { [PERHAPS]: 20, [NONE]: 100, [OTHERS]: 3200 };
/** No pause is longer. All threads that wait for long look, and a look may take some milliseconds. */
const LONGEST_PAUSE = 60_000;
const UNTIL_WOKEN = -1n;
/** So many calls of a stack are told: those of this library are among them. */
const FRAMES = 30;
/** Is set of the functions of a module that are replaced. */
const LOOKS = Symbol.for('taketurns:watched');

/**
 * Returns milliseconds in nanoseconds, as the record of a thread tells them (sleepOn in the core): the thread sleeps on
 * after them, and tells of deadlocks unless it `isPassive`.
 */
const nanoseconds = (milliseconds: number, isPassive: boolean): bigint =>
  BigInt(Math.ceil(milliseconds * 2.5e5)) * 4n + (isPassive ? 3n : 1n);

/** The functions in which a thread may sleep without a time limit. */
type Sleeps = Pick<Core, 'park' | 'parkFor' | 'compete'> &
  Pick<Sync, 'sleepInPhase' | 'drainReaders'> &
  Pick<Channel, 'sleepOn'>;

/**
 * Takes the request of the thread out of the queue of the object. Returns CANCELLED if it has left, the answer of the
 * wait if that has ended meanwhile, and undefined if it cannot leave.
 */
type Leave = (object: number) => number | undefined;

/** A call of taketurns/sync that waits for a phase or for readers. It leaves when the exception comes. */
const leavesItself: Leave = () => CANCELLED;

/**
 * Makes the calling thread look for deadlocks when it sleeps long in these functions of a module.
 * @param now gives the milliseconds since a fixed moment.
 */
export function lookInSleeps(
  module: object,
  names: readonly string[],
  membership: OwnMembership,
  tools: LookTools,
  now: () => number,
): void {
  const functions = module as { [LOOKS]?: true } & Sleeps;
  // Another copy of this package may have done it.
  if (functions[LOOKS]) return;
  mark(functions, LOOKS, true);
  // Others may replace them later (measure.ts).
  const { park, parkFor, compete, sleepInPhase, drainReaders, sleepOn } = functions;
  const own: Sleeps = { park, parkFor, compete, sleepInPhase, drainReaders, sleepOn };
  let sleeps: Record<string, Sleep> | undefined;
  for (const name of names) {
    if (name === 'parkFor') continue;
    // A thread makes at its first sleep what it needs for that. All threads would pay for it when they start.
    (functions as unknown as Record<string, Sleep>)[name] = (a, b, c) => {
      sleeps ??= new LongSleeps(own, functions, membership, tools, now).replacements() as Record<string, Sleep>;
      return (sleeps[name] as Sleep)(a, b, c);
    };
  }
}

type Sleep = (a: unknown, b: unknown, c: unknown) => unknown;

/** The sleeps of the calling thread in the functions of one module. */
class LongSleeps {
  /** The functions in which the thread sleeps, as they were before they were replaced. */
  readonly #module: Sleeps;
  /** All functions of the module, as they are now. */
  readonly #functions: object;
  readonly #membership: OwnMembership;
  readonly #tools: LookTools;
  readonly #now: () => number;
  readonly #words: Int32Array;
  /** The address of the record of this thread. */
  readonly #record: number;
  #setting: Setting;
  /** The word of the setting when it was last read. */
  #seen: number | undefined;
  /** How long a sleep without a time limit first lasts. */
  #first = UNTIL_WOKEN;

  constructor(own: Sleeps, functions: object, membership: OwnMembership, tools: LookTools, now: () => number) {
    this.#functions = functions;
    this.#module = own;
    this.#membership = membership;
    this.#tools = tools;
    this.#now = now;
    this.#words = new Int32Array(membership.memory.buffer);
    this.#record = membership.core.doorbell() - T_DOORBELL;
    this.#setting = settingOf(this.#words);
  }

  /** Returns what replaces the functions. */
  replacements() {
    const { core } = this.#membership;
    const { parkFor, compete, sleepInPhase, drainReaders, sleepOn } = this.#module;
    const now = this.#now;
    const words = this.#words;
    // What the core counts as a futile wake-up if the sleep has no time limit.
    const futileWakes = (this.#record + T_FUTILE_WAKES) >>> 2;
    return {
      park: (since: number, attachment: number) => {
        const begun = now();
        const answer = parkFor(this.#begin(), since, attachment);
        return answer !== TIMED_OUT
          ? answer
          : this.#goOn(
              begun,
              (limit) => parkFor(limit, since, attachment),
              // The element may have to stay in the queue, so the thread needs another one.
              (object) => (core.reserveSecond() ? core.cancel(object, attachment) : undefined),
              () => Atomics.add(words, futileWakes, 1),
            );
      },
      compete: (m: number, limit: bigint, attachment: number) =>
        this.#endless(
          limit,
          (limit) => compete(m, limit, attachment),
          () => {
            core.cancelHead(m, attachment);
            return CANCELLED;
          },
        ),
      sleepInPhase: (o: number, phase: number, limit: bigint) =>
        this.#endless(limit, (limit) => sleepInPhase(o, phase, limit), leavesItself),
      drainReaders: (o: number, phase: number, limit: bigint) =>
        this.#endless(limit, (limit) => drainReaders(o, phase, limit), leavesItself),
      // The caller looks itself whether the word has changed.
      sleepOn: (word: number, value: number, limit: bigint) => {
        if (limit !== UNTIL_WOKEN || !this.#tools.tellStack) {
          sleepOn(word, value, limit);
          return;
        }
        sleepOn(word, value, this.#begin());
        if (Atomics.load(words, word >>> 2) !== value) return;
        this.#asAsleep(this.#tellStack);
        sleepOn(word, value, UNTIL_WOKEN);
      },
    };
  }

  /** Whether the thread could not leave the queue, if it waited in a deadlock that throws. */
  get #isPassive(): boolean {
    return ownWaitsIn(this.#membership).locksAgain && this.#setting.deadlocks === 'throw';
  }

  /** Returns how long a sleep without a time limit first lasts. */
  #begin(): bigint {
    const word = Atomics.load(this.#words, H_DEADLOCKS >> 2);
    if (word !== this.#seen) {
      this.#seen = word;
      this.#setting = settingOf(this.#words);
      if (isMeasured(this.#words)) this.#tools.measure?.(this.#functions, this.#membership, this.#tools, this.#now);
      const { deadlocks, after } = this.#setting;
      this.#first = deadlocks === 'ignore' ? UNTIL_WOKEN : nanoseconds(after, false);
    }
    return this.#isPassive ? nanoseconds(this.#setting.after, true) : this.#first;
  }

  /** Sleeps in a function that takes a time limit. If it has none, the thread looks. */
  #endless<A>(limit: bigint, sleep: (limit: bigint) => A, leave: Leave): A {
    const begun = this.#now();
    const answer = sleep(limit === UNTIL_WOKEN ? this.#begin() : limit);
    return answer === TIMED_OUT && limit === UNTIL_WOKEN ? this.#goOn(begun, sleep, leave) : answer;
  }

  /**
   * Goes on after a sleep that has ended without an answer. Returns the answer of a later sleep, or of a cancellation.
   */
  #goOn<A>(begun: number, sleep: (limit: bigint) => A, leave: Leave, countEarly = () => {}): A {
    const tools = this.#tools;
    const pauses = { ...PAUSES };
    let told: string | undefined;
    let isHinted = tools.hasHinted === true;
    let hasTold = false;
    let left = this.#setting.after - (this.#now() - begun);
    while (true) {
      if (left > 0) countEarly();
      else {
        if (this.#begin() === UNTIL_WOKEN) return sleep(UNTIL_WOKEN);
        if (tools.tellStack && !hasTold) this.#asAsleep(this.#tellStack);
        hasTold = true;
        let verdict = this.#look();
        if (typeof verdict !== 'string') {
          if (this.#setting.deadlocks === 'throw' && !this.#isPassive) {
            const answer = leave(verdict.object);
            if (answer === CANCELLED) throw verdict.error;
            // The wait has ended meanwhile, if the thread could leave.
            if (answer !== undefined) return answer as A;
          }
          const { circle, error } = verdict;
          if (circle !== told && !tools.tellStack) this.#asAsleep(() => tools.say(error.message));
          told = circle;
          verdict = OTHERS;
        } else if (verdict === NONE && !isHinted) {
          isHinted = true;
          this.#asAsleep(this.#hint);
        }
        left = pauses[verdict];
        pauses[verdict] = Math.min(2 * left, LONGEST_PAUSE);
      }
      const start = this.#now();
      const answer = sleep(nanoseconds(left, this.#isPassive));
      if (answer !== TIMED_OUT) return answer;
      left -= this.#now() - start;
    }
  }

  /**
   * Runs a function while the record says that the thread sleeps: the thread takes nothing and gives nothing back. So
   * other threads that look at the same time find it asleep. Returns false if another thread has declared this one
   * dead. Then this one must go back to sleep, and do nothing else.
   */
  #asAsleep(run: () => void): boolean {
    const { core, thread } = this.#membership;
    const lifeAt = (this.#record + T_LIFE) >>> 2;
    const awake = core.lifeIfAlive(thread);
    const asleep = awake + (ASLEEP - ALIVE);
    Atomics.compareExchange(this.#words, lifeAt, awake, asleep);
    run();
    return Atomics.compareExchange(this.#words, lifeAt, asleep, awake) === asleep;
  }

  /** A wait for a lock must not fail because the look has: the stack or the memory may be exhausted. */
  #look(): Own | Verdict {
    const { memory, thread } = this.#membership;
    let verdict: Own | Verdict = NONE;
    const isAlive = this.#asAsleep(() => {
      try {
        verdict = this.#tools.look(memory, thread, epoch() | 0, this.#tools.beside?.(memory) ?? []);
      } catch {
        // The thread sleeps on.
      }
    });
    return isAlive ? verdict : NONE;
  }

  readonly #tellStack = (): void => {
    const limit = Error.stackTraceLimit;
    try {
      Error.stackTraceLimit = FRAMES;
      const { stack = '' } = new Error();
      this.#tools.tellStack?.(this.#membership.core.id(), this.#membership.thread, epoch(), stack);
    } catch {
      // The thread sleeps on.
    } finally {
      // A program may have frozen it.
      Reflect.set(Error, 'stackTraceLimit', limit);
    }
  };

  /** Says, once in a thread, that its wait is likely to be a mistake. */
  readonly #hint = (): void => {
    const tools = this.#tools;
    try {
      const { memory, thread } = this.#membership;
      const mistake = tools.likelyMistake(memory, thread, epoch() | 0, tools.isMain);
      if (mistake === undefined) return;
      tools.hasHinted = true;
      tools.say(mistake);
    } catch {
      // The thread sleeps on.
    }
  };
}
