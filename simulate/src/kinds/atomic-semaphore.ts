/**
 * AtomicSemaphore of P0514. A thread waits until a word is no longer as it was. `atomicWait` waits in the same way, at
 * a place of the arena. A program has two words, whose waiters wait at the same place.
 */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Random } from '../random.js';
import type { Realm } from '../realm.js';
import { dispose, type Kind, type Kinds } from './parts/kind.js';

/** The value of a word at the end. No request waits while a word has this value. */
const END = 9;

class WordsGhost extends Ghost {
  readonly words = new Int32Array(new SharedArrayBuffer(8));
  /** All changes of words: the number of the word, and its new value. */
  readonly #changes: { readonly word: number; readonly value: number }[] = [];
  /** How many changes there were when a request began. */
  readonly #began = new Map<Request, number>();
  readonly #changing = new Set<Realm>();

  override begin(call: Call, n?: number): Request {
    const request = super.begin(call, n);
    this.#began.set(request, this.#changes.length);
    return request;
  }

  /** Changes a word, and runs a signal. */
  changes(thread: Realm, word: number, value: number, signal: () => void): void {
    this.#changing.add(thread);
    this.words[word] = value;
    this.#changes.push({ word, value });
    signal();
    this.#changing.delete(thread);
  }

  /** Checks that the word has been something else at some time since the request began. */
  saw(request: Request): void {
    const { word, old } = wanted(request.call as Call);
    const before = this.#changes.slice(0, this.#began.get(request)).findLast((change) => change.word === word);
    const later = this.#changes.slice(this.#began.get(request)).filter((change) => change.word === word);
    if ([before ?? { value: 0 }, ...later].every(({ value }) => value === old))
      this.fail(`${request.call} goes on, and the word was ${old} all the time`);
  }

  /** Checks that the time of a request has passed. */
  gaveUp({ call, began }: Request): void {
    const { timeout = Infinity } = call.operation;
    if (this.stage.scheduler.clock - began < timeout) this.fail(`${call} has given up too early`);
  }

  protected due(): Request | undefined {
    return [...this.pending].find(({ call }) => {
      const { word, old } = wanted(call as Call);
      return this.words[word] !== old;
    });
  }

  /** A thread that dies between the change and the signal wakes nobody. */
  override died(thread: Realm): void {
    if (this.#changing.has(thread)) this.isUnsure = true;
  }

  /** The clock may move on after a wait has read it. Then the wait ends later than it should. */
  protected override mayEnd({ mustEnd }: Request): boolean {
    return mustEnd !== undefined;
  }

  override callsBack(): void {}

  override finish(thread: Realm): void {
    if (this.isDisposed) return;
    for (const word of [0, 1]) this.changes(thread, word, END, () => this.objectOf(thread).signal(this.words, word));
  }
}

const ghostOf = ({ ghost }: Call): WordsGhost => ghost as WordsGhost;

/** The number of an operation says which word it is about, and which value the word had or gets. */
const wanted = ({ operation: { n = 0 } }: Call): { word: number; old: number } => ({ word: n >> 1, old: n & 1 });
const draw = (random: Random) => ({ n: random.below(4) });
const within = (random: Random) => ({ n: random.below(4), timeout: random.below(4) });

const went = (call: Call, value: unknown, request: Request): void =>
  value === false ? ghostOf(call).gaveUp(request) : ghostOf(call).saw(request);

/** Makes the operation that waits by the method `name`. */
const waits = (name: string, isTimed: boolean): Kind['operations'][string] => ({
  weight: 5,
  draw: isTimed ? within : draw,
  run(call) {
    const { word, old } = wanted(call);
    const { words } = ghostOf(call);
    call.waits(
      () => call.object[name](words, word, old, call.operation.timeout),
      (value, request) => went(call, value, request),
    );
  },
});

const atomicSemaphore: Kind = {
  draw: () => ({}),
  make: ({ AtomicSemaphore }, _spec, arena) => new AtomicSemaphore({ arena }),
  ghost: (stage, on) => new WordsGhost(stage, on),
  outlives: () => false,
  operations: {
    waitAsync: waits('waitAsync', false),
    tryWaitForAsync: waits('tryWaitForAsync', true),
    tryWaitFor: {
      weight: 3,
      blocks: true,
      draw: within,
      run(call) {
        const { word, old } = wanted(call);
        const { words } = ghostOf(call);
        let request!: Request;
        call.blocks(
          () => call.object.tryWaitFor(words, word, old, call.operation.timeout),
          (value) => went(call, value, request),
          1,
          (begun) => {
            request = begun;
          },
        );
      },
    },
    signal: {
      weight: 8,
      draw,
      run(call) {
        const { word, old: value } = wanted(call);
        const { words } = ghostOf(call);
        ghostOf(call).changes(call.thread, word, value, () => call.now(() => call.object.signal(words, word)));
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { AtomicSemaphore: atomicSemaphore };
