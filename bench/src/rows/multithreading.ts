// The semaphore of the npm package `multithreading`, driven from our own workers.
//
// The package hands its objects to threads of its own pool only, by a conversion that it does not export. The
// conversion's first element is the shared buffer, and the constructor's second argument takes it back: that is
// all that is needed to join one semaphore from any worker. `blockingAcquire` returns a guard, and disposing of
// the guard is the only way to release.

import { availableParallelism } from 'node:os';

type Module = typeof import('multithreading');
type Guard = ReturnType<InstanceType<Module['Semaphore']>['blockingAcquire']>;

/** Imports the package, after supplying what it expects of the runtime and Node 20 lacks. */
async function load(): Promise<Module> {
  if (!('navigator' in globalThis)) {
    Object.defineProperty(globalThis, 'navigator', {
      value: { hardwareConcurrency: availableParallelism() },
      configurable: true,
    });
  }
  if (!('withResolvers' in Promise)) {
    Object.defineProperty(Promise, 'withResolvers', {
      value: () => {
        const deferred: Record<string, unknown> = {};
        deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
        return deferred;
      },
      configurable: true,
      writable: true,
    });
  }
  return import('multithreading');
}

export async function shareMultithreading(permits: number): Promise<SharedArrayBuffer> {
  const { Semaphore } = await load();
  const conversion = Object.getOwnPropertySymbols(Semaphore.prototype).find(
    (symbol) => symbol.description === 'Thread.Serialize',
  );
  if (conversion === undefined)
    throw new Error('this version of multithreading converts its semaphores differently');
  const semaphore = new Semaphore(permits) as unknown as Record<symbol, () => [SharedArrayBuffer]>;
  return (semaphore[conversion] as () => [SharedArrayBuffer]).call(semaphore)[0];
}

export async function attachMultithreading(buffer: SharedArrayBuffer) {
  const { Semaphore } = await load();
  return new MultithreadingSemaphore(new Semaphore(0, buffer));
}

class MultithreadingSemaphore {
  readonly #semaphore: InstanceType<Module['Semaphore']>;
  #guard: Guard | undefined;

  constructor(semaphore: InstanceType<Module['Semaphore']>) {
    this.#semaphore = semaphore;
  }

  acquire(): void {
    this.#guard = this.#semaphore.blockingAcquire();
  }

  release(): void {
    (this.#guard as unknown as { dispose(): void }).dispose();
  }
}
