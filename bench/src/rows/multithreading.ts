// The semaphore and the mutex of the npm package `multithreading`, driven from the benchmark's own workers.
//
// The package passes its objects only to threads of its own pool. It does so by a conversion that it does not export.
// The result of the conversion begins with the shared buffer, and the second argument of the constructor accepts this
// buffer. So any worker can join an object. Acquire returns a guard, and only disposing of the guard releases.

import { availableParallelism } from 'node:os';

type Module = typeof import('multithreading');
interface Guard {
  dispose(): void;
}

/** Imports the package. Before that, supplies the features that the package needs and Node 20 lacks. */
export async function load(): Promise<Module> {
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

/** Returns the conversion of an object. */
export function converted(object: object): unknown[] {
  let conversion: symbol | undefined;
  for (let at = Object.getPrototypeOf(object); at !== null && !conversion; at = Object.getPrototypeOf(at))
    conversion = Object.getOwnPropertySymbols(at).find(({ description }) => description === 'Thread.Serialize');
  if (conversion === undefined) throw new Error('this version of multithreading converts its objects differently');
  return (object as Record<symbol, () => unknown[]>)[conversion]?.() as unknown[];
}

export async function shareSemaphore(permits: number): Promise<SharedArrayBuffer> {
  const { Semaphore } = await load();
  return converted(new Semaphore(permits))[0] as SharedArrayBuffer;
}

export async function attachSemaphore(buffer: SharedArrayBuffer) {
  const { Semaphore } = await load();
  return new MultithreadingSemaphore(new Semaphore(0, buffer));
}

export async function shareMutex(): Promise<SharedArrayBuffer> {
  const { Mutex } = await load();
  // The mutex may guard data: its own buffer is the first of the two.
  return (converted(new Mutex())[0] as [SharedArrayBuffer])[0];
}

export async function attachMutex(buffer: SharedArrayBuffer) {
  const { Mutex } = await load();
  return new MultithreadingMutex(new Mutex(undefined, buffer));
}

class MultithreadingSemaphore {
  readonly #semaphore: InstanceType<Module['Semaphore']>;
  #guard: Guard | undefined;

  constructor(semaphore: InstanceType<Module['Semaphore']>) {
    this.#semaphore = semaphore;
  }

  acquire(): void {
    this.#guard = this.#semaphore.blockingAcquire() as unknown as Guard;
  }

  release(): void {
    (this.#guard as Guard).dispose();
  }
}

class MultithreadingMutex {
  readonly #mutex: InstanceType<Module['Mutex']>;
  #guard: Guard | undefined;

  constructor(mutex: InstanceType<Module['Mutex']>) {
    this.#mutex = mutex;
  }

  lock(): void {
    this.#guard = this.#mutex.blockingLock();
  }

  unlock(): void {
    (this.#guard as Guard).dispose();
  }
}
