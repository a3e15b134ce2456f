/**
 * KeyedMutex and KeyedSemaphore, with one permit a key, so both are a mutex for each key. The owner of a key may die.
 * The ghost looks at one key, and the threads hold others on the way, so that the keys come and go.
 */
import type { Call } from '../call.js';
import type { Library, Realm } from '../realm.js';
import { MutexGhost } from './mutex.js';
import { type Kind, type Kinds, patience, plainly } from './parts/kind.js';

const KEY = 'key';

class KeyGhost extends MutexGhost {
  override ended(thread: Realm): void {
    if (this.isDisposed || this.stage.isUnreaped) return;
    const { size, waiting } = this.objectOf(thread).inspect();
    if (size > 0 || waiting > 0) this.fail(`${size} keys are held, and ${waiting} wait in the end`);
  }
}

const has = (call: Call, guard: Library): void =>
  call.owns(call.ghost as KeyGhost, () => (guard.release ? guard.release() : guard.unlock()));

const kind = (make: Kind['make']): Kind => ({
  draw: (random) => (random.once(2) ? {} : { callback: random.of(['throws', 'calls back']) }),
  make,
  // The keys keep the library object of the table, so it is not collected.
  hasParts: true,
  ghost: (stage, on) => new KeyGhost(stage, on),
  outlives: () => true,
  operations: {
    holdAsync: {
      weight: 6,
      draw: patience,
      run(call) {
        call.waits(
          (options) => call.object.holdAsync(KEY, options),
          (guard) => has(call, guard as Library),
        );
      },
    },
    runExclusive: {
      weight: 2,
      draw: (random) => ({ ...patience(random), callback: random.of(['throws', undefined]) }),
      run(call) {
        const ghost = call.ghost as KeyGhost;
        call.runs(
          (run, options) =>
            options === undefined ? call.object.runExclusive(KEY, run) : call.object.runExclusive(KEY, run, options),
          () => ghost.took(call.thread),
          () => ghost.gives(call.thread),
        );
      },
    },
    hold: {
      weight: 3,
      blocks: true,
      draw: (random) => (random.once(2) ? { timeout: random.below(4) } : {}),
      run(call) {
        let guard: Library;
        call.blocks(
          (options) => {
            guard = call.object.hold(KEY, options);
          },
          () => has(call, guard),
        );
      },
    },
    tryHold: {
      weight: 1,
      draw: plainly,
      run(call) {
        const guard = call.now<Library | undefined>(() => call.object.tryHold(KEY));
        if (guard) has(call, guard);
      },
    },
    visit: {
      weight: 2,
      draw: (random) => ({ n: random.below(3) }),
      run(call) {
        call.now(() => {
          const guard = call.object.tryHold(call.operation.n as number);
          if (guard?.release) guard.release();
          else guard?.unlock();
        });
      },
    },
    cancelAll: {
      weight: 2,
      draw: plainly,
      run(call) {
        call.ghost.cancels(() => call.object.cancelAll());
      },
    },
  },
});

export const kinds: Kinds = {
  KeyedMutex: kind(({ KeyedMutex }, _spec, arena) => new KeyedMutex({ arena })),
  KeyedSemaphore: kind(({ KeyedSemaphore }, _spec, arena) => new KeyedSemaphore(1, { arena })),
};
