/**
 * Faults that are put into the library, one at a time, to show that the simulation finds them. Some faults are
 * invented. The other faults are those that the library once had: a patch undoes the repair.
 */
import type { Patch } from './library.js';

export interface Fault {
  /** What the library does wrong. */
  readonly what: string;
  readonly patches: readonly Patch[];
  /** The classes whose programs find the fault soonest. */
  readonly kinds: readonly string[];
  /** The first seed of the search, if the case that the search from 1 finds first cannot be made short. */
  readonly seed?: number;
}

/** Invented faults, in what the library does in JavaScript around the core. */
const runtime: Record<string, Fault> = {
  'bell-after-look': {
    what: 'the doorbell is read after the look at the promises, not before (D7)',
    kinds: ['Semaphore', 'Mutex'],
    patches: [
      {
        find: 'const rung = Atomics.load(this.#words, this.#index); this.#look();',
        put: 'this.#look(); const rung = Atomics.load(this.#words, this.#index);',
      },
    ],
  },
  'no-second-look': {
    what: 'a thread that has entered a run in the waiting array does not look again',
    kinds: ['Semaphore', 'Mutex'],
    seed: 100_000,
    patches: [
      {
        find: '(this.#core.enterRun(this.first) !== 0 || this.obey())',
        put: '(this.#core.enterRun(this.first), this.obey())',
      },
    ],
  },
  'cancel-settles-none': {
    what: 'a promise that is cancelled does not settle those of its thread that it has passed permits on to',
    kinds: ['Semaphore', 'Mutex'],
    patches: [
      {
        find: '(run.alone, rejected(reason)); } this.#settle();',
        put: '(run.alone, rejected(reason)); } this.#pay();',
      },
    ],
  },
  'rest-not-entered': {
    what: 'what is left of a run after a release is not entered again',
    kinds: ['Semaphore', 'Mutex'],
    patches: [{ find: 'if (this.first === 0 || this.#notEntered) return;', put: 'return;' }],
  },
  'asks-not-obeyed': {
    what: 'cancelAll is not looked at after a run has been entered (D12)',
    kinds: ['Semaphore', 'Mutex'],
    patches: [
      {
        find: 'this.#core.enterRun(this.first) !== 0 || this.obey()',
        put: 'this.#core.enterRun(this.first) !== 0',
      },
    ],
  },
  'head-tells-nobody': {
    what: 'the promise that is the head of a mutex does not tell those behind it that it has left',
    kinds: ['Semaphore', 'Mutex'],
    patches: [
      {
        find: 'this.#shared.promises.settle(); if (!this.waits) this.#doorbell.done(this);',
        put: 'if (!this.waits) this.#doorbell.done(this);',
      },
    ],
  },
  'head-not-asked': {
    what: 'the promise that is the head of a mutex does not look whether cancelAll was called',
    kinds: ['Mutex'],
    patches: [{ find: 'if (this.#core.asks(address) === this.asks) return false;', put: 'return false;' }],
  },
  'phase-gives-up': {
    what: 'a wait for a phase whose time has passed does not look whether the phase is over',
    kinds: ['Event', 'Latch', 'WaitGroup'],
    patches: [{ find: 'return answer === 3 ? 18 : answer;', put: 'return 18;' }],
  },
  'phase-not-looked-at': {
    what: 'a promise that waits for a phase does not settle those of an earlier phase',
    kinds: ['Event'],
    patches: [{ find: 'if (group.phase !== phase) PhaseObject.#listen(all, at, group);', put: '' }],
  },
  'phase-not-listened-to': {
    what: 'who waits for a phase listens to the first end of one alone',
    kinds: ['Event', 'WaitGroup'],
    patches: [{ find: 'group.listens = false;', put: '' }],
  },
  'phase-settled-once': {
    what: 'promises of a phase that is over are counted as waiting',
    kinds: ['Event', 'Latch', 'WaitGroup'],
    patches: [
      {
        find: 'this[functions].waitsEnd(this[ownAttachment], Math.min(group.calls.size, most), howEnded(answer));',
        put: '',
      },
    ],
  },
  'barrier-goes-on': {
    what: 'a promise that gives up at a barrier does not break it',
    kinds: ['Barrier'],
    patches: [
      {
        find: 'hasArrived && this[functions].breakPhase(this[address], phase) ? 18 : this[lastAnswer](phase)',
        put: 'this[lastAnswer](phase)',
      },
    ],
  },
  'barrier-for-some': {
    what: 'a round that is broken is complete for those who learn of its end later',
    kinds: ['Barrier'],
    patches: [{ find: 'this[functions].wasBroken(at, phase)', put: 'false' }],
  },
  'deaths-not-restored': {
    what: 'an `onOwnerDied` that throws has used up what the next owner should learn',
    kinds: ['Mutex', 'Semaphore'],
    patches: [{ find: 'core.restoreOwnerDeaths(shared.address, deaths);', put: '' }],
  },
  'promise-given-back': {
    what: 'an `onOwnerDied` that gives back and throws loses what a promise of the thread has got from it',
    kinds: ['Mutex', 'Semaphore'],
    patches: [{ find: 'permits + notGranted() - before', put: 'permits' }],
  },
  'action-breaks-nothing': {
    what: 'a barrier whose action throws is not broken',
    kinds: ['Barrier'],
    patches: [{ find: 'this[functions].breakPhase(this[address], phase); throw error;', put: 'throw error;' }],
  },
  'counter-keeps': {
    what: 'a wait of a CountingSemaphore that gives up keeps what has been handed on for it',
    kinds: ['CountingSemaphore'],
    patches: [{ find: 'if (held > 0) this.#raised(counter.countUp(at, held, 3), held);', put: '' }],
  },
  'finalizer-detaches': {
    what: 'the finalizer of a library object detaches the thread, though the thread has another one',
    kinds: ['Mutex'],
    patches: [
      {
        find: 'if (heldBy.size > 0 || this.#shared.get(address) !== shared) return;',
        put: 'if (this.#shared.get(address) !== shared) return;',
      },
    ],
  },
  'word-before-place': {
    what: 'a promise of an AtomicSemaphore looks at its word only before it comes to the place',
    kinds: ['AtomicSemaphore'],
    patches: [{ find: 'isHere = true; try { if (word.changed) return true;', put: 'isHere = true; try {' }],
  },
  'place-not-left': {
    what: 'a promise of an AtomicSemaphore does not look whether the semaphore has been disposed of',
    kinds: ['AtomicSemaphore'],
    patches: [
      {
        find: 'isHere = true; try { if (word.changed) return true; this.checkOpen();',
        put: 'isHere = true; try { if (word.changed) return true;',
      },
    ],
  },
  'owner-forgets': {
    what: 'the owner of a closed lock of the papers cannot unlock it, and its waiters never learn that it is closed',
    kinds: ['McsLock', 'ClhLock', 'LifoLock', 'ReciprocatingLock'],
    patches: [
      {
        find: 'const answer = this.#functions.tryLock(this.#at);',
        put: 'const answer = this[reference].membership.core.isDisposed(this.#at) ? -1 : this.#functions.tryLock(this.#at);',
      },
    ],
  },
  'capacitor-keeps': {
    what: 'a CapacitorLock whose inner lock is taken keeps the place at the capacitor',
    kinds: ['CapacitorLock'],
    patches: [{ find: 'if (!got) capacitor[leave]();', put: '' }],
  },
  'counter-wakes-nobody': {
    what: 'a signal of a CountingSemaphore does not wake those that it has made due',
    kinds: ['CountingSemaphore'],
    patches: [{ find: 'if (answer > 0) this.#finishRelease(answer);', put: 'if (answer > 0) return;' }],
  },
};

/** Faults that the library once had. */
const mended: Record<string, Fault> = {
  'rw-lock-callback': {
    what: '`RwLock.onOwnerDied` that calls the lock gives up what the caller has got',
    kinds: ['RwLock'],
    patches: [{ find: 'side.deaths = 0; return', put: 'side.deaths = 0; side.open(2); return' }],
  },
  'rw-lock-refused-signal': {
    what: 'a promise that waits for readers to leave, and whose signal takes no listener, ends with a time-out',
    kinds: ['RwLock'],
    patches: [
      {
        find: 'if (!isTimeout(reason, signal)) reject(reason);',
        put: 'if (signal?.aborted && !isTimeout(reason, signal)) reject(reason);',
      },
    ],
  },
  'condition-cancelled': {
    what: '`cancelAll` of the mutex ends the wait on a condition, whose thread is then not the owner',
    kinds: ['Condition'],
    patches: [{ find: 'else if (!(error instanceof CancelledError)) throw error;', put: 'else throw error;' }],
  },
  'loop-takes-ahead': {
    what: 'a loop over a channel takes messages ahead, and keeps them when it is left',
    kinds: ['Channel'],
    patches: [
      {
        find: 'return iterate(this.#receiving, () => Channel.prototype.receive.call(this));',
        put: 'const ahead = []; return iterate(this.#receiving, () => { if (ahead.length === 0) ahead.push(...this.receiveMany(64)); return ahead.shift(); });',
      },
    ],
  },
  'closed-and-gone': {
    what: 'a promise that `close` has ended is told that the channel has been disposed of, if `dispose` follows',
    kinds: ['Channel'],
    patches: [{ find: 'this.#end.closedBy(error, hasClosed)', put: 'this.#end.closedBy(error, false)' }],
  },
  'select-both': {
    what: 'a select that receives the last message of a closed channel ends with the end of its other case',
    kinds: ['Channel'],
    seed: 112_500,
    patches: [{ find: 'if (this.#isTaking) this.#late.push(end); else end();', put: 'end();' }],
  },
  'once-phase': {
    what: 'the phase of a promise that waits for another to run is noted after the code of its signal',
    kinds: ['Once', 'Event'],
    patches: [
      {
        find: 'this[checkEnded](await this[sleepAsync](phase,',
        put: 'this[checkEnded](await this[sleepAsync](this[phaseSeen],',
      },
    ],
  },
};

export const faults: Readonly<Record<string, Fault>> = { ...runtime, ...mended };
