/** The part of an AbortSignal that the library needs. In some programs it refuses listeners or calls back. */
export class Signal {
  isAborted = false;
  readonly reason: unknown;
  readonly listeners = new Set<() => void>();
  /** Whether the signal has refused a listener. */
  isRefused = false;
  readonly #refuses: boolean;
  readonly #meanwhile: () => void;

  /**
   * @param meanwhile is called when a listener comes or goes, and when the library looks whether the signal is aborted
   */
  constructor(reason: unknown, refuses: boolean, meanwhile: () => void) {
    this.reason = reason;
    this.#refuses = refuses;
    this.#meanwhile = meanwhile;
  }

  /** The library reads `aborted`, which calls back. The simulation itself reads `isAborted`. */
  get aborted(): boolean {
    this.#meanwhile();
    return this.isAborted;
  }

  addEventListener(_event: 'abort', listener: () => void): void {
    if (this.#refuses) {
      this.isRefused = true;
      throw this.reason;
    }
    this.#meanwhile();
    this.listeners.add(listener);
  }

  removeEventListener(_event: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
    this.#meanwhile();
  }

  abort(): void {
    this.isAborted = true;
    for (const listener of [...this.listeners]) listener();
  }
}
