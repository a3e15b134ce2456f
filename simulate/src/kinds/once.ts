/** Once: one thread at a time runs its function, until a function has returned. The other threads wait until then. */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Realm } from '../realm.js';
import { dispose, type Kind, type Kinds, patience, plainly } from './parts/kind.js';

class OnceGhost extends Ghost {
  #runner: Realm | undefined;
  /** Whether a function has returned. */
  #isDone = false;

  took(thread: Realm): void {
    if (this.#runner !== undefined) this.fail(`thread ${thread.index} runs while thread ${this.#runner.index} does`);
    if (this.#isDone && !this.isUnsure) this.fail(`thread ${thread.index} runs what has been done`);
    this.#runner = thread;
  }

  gives(isDone: boolean): void {
    this.#runner = undefined;
    this.#isDone ||= isDone;
  }

  passed(answer: unknown): void {
    if (answer !== false) this.fail(`it answers ${answer} to who has not run`);
    if (!this.#isDone) this.fail('who waits goes on, and nothing has been done');
  }

  protected due(): Request | undefined {
    const [first] = this.pending;
    return this.#runner === undefined ? first : undefined;
  }

  override callsBack(): void {}

  override died(thread: Realm): void {
    super.died(thread);
    // The function of the dead thread may have returned, although its call has not.
    if (this.#runner === undefined) this.isUnsure = true;
  }

  override reaped(thread: Realm): void {
    super.reaped(thread);
    if (this.#runner === thread) this.#runner = undefined;
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.isUnsure || this.stage.isUnreaped) return;
    const { done, runner, waiters } = this.objectOf(thread).inspect();
    if (done !== this.#isDone) this.fail(`in the end done is ${done}`);
    if (runner !== undefined || waiters.length > 0) this.fail('somebody runs or waits in the end');
  }
}

const ghostOf = ({ ghost }: Call): OnceGhost => ghost as OnceGhost;

const once: Kind = {
  draw: plainly,
  make: ({ Once }, _spec, arena) => new Once({ arena }),
  ghost: (stage, on) => new OnceGhost(stage, on),
  outlives: () => true,
  operations: {
    runAsync: {
      weight: 8,
      draw: (random) => ({ ...patience(random), callback: random.of(['throws', 'throws', undefined]) }),
      run(call) {
        const ghost = ghostOf(call);
        call.runs(
          (run, options) => call.object.runAsync(run, options),
          () => ghost.took(call.thread),
          () => ghost.gives(call.operation.callback !== 'throws'),
          1,
          (answer) => ghost.passed(answer),
        );
      },
    },
    run: {
      weight: 3,
      blocks: true,
      draw: (random) => ({
        timeout: random.below(4),
        callback: random.of(['throws', undefined]),
        ...(random.once(4) ? { cut: true } : {}),
      }),
      run(call) {
        const ghost = ghostOf(call);
        const { callback } = call.operation;
        let hasRun = false;
        const runs = (): void => {
          hasRun = true;
          ghost.took(call.thread);
          ghost.gives(callback !== 'throws');
          ghost.callback(callback);
        };
        call.blocks(
          (options) => call.object.run(runs, options),
          (answer) => {
            if (!hasRun) ghost.passed(answer);
          },
        );
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { Once: once };
