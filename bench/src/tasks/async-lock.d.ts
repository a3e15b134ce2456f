// async-lock has no types of its own. This is the part that the benchmark calls.
declare module 'async-lock' {
  export default class AsyncLock {
    constructor(options?: { readonly maxPending?: number });
    acquire<T>(key: string, run: () => T | PromiseLike<T>): Promise<T>;
  }
}
