/**
 * One experiment runs at a time, since two would take each other's processors. The start of an experiment stops the
 * experiment that runs.
 */
import { button, h, put } from './ui/dom.js';

export interface Experiment {
  stop(): Promise<void> | void;
}

let current: Experiment | undefined;
const listeners: (() => void)[] = [];

/** Calls `told` whenever an experiment begins, because the experiment wants the processors for itself. */
export function onBegin(told: () => void): void {
  listeners.push(told);
}

export async function begin(experiment: Experiment): Promise<void> {
  const before = current;
  current = experiment;
  for (const told of listeners) told();
  if (before !== undefined && before !== experiment) await before.stop();
}

export function end(experiment: Experiment): void {
  if (current === experiment) current = undefined;
}

// A hidden page draws no frames and has slow timers, so figures taken then would mean nothing.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) void current?.stop();
});

/** The button that starts and stops an experiment, and the line for its error. */
export class Switch implements Experiment {
  readonly status = h('p', { class: 'status', role: 'status' });
  readonly button = button('Start', () => (this.#stop === undefined ? this.#start() : this.stop()), 'primary');
  readonly #begin: () => Promise<() => Promise<void>>;
  #stop: (() => Promise<void>) | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #changes: Promise<void> = Promise.resolve();

  /** `start` resolves to a function that stops the experiment. */
  constructor(start: () => Promise<() => Promise<void>>) {
    this.#begin = start;
  }

  /** Starts the experiment again if it runs. A setting that has changed calls this. */
  readonly restart = (): void => {
    if (this.#stop === undefined && this.#starting === undefined) return;
    this.#changes = this.#changes.then(async () => {
      await this.stop();
      await this.#start();
    });
  };

  /** Stops the experiment, unless a stop is already under way. Resolves when the experiment has stopped. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stops().finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  async #stops(): Promise<void> {
    await this.#starting;
    const stop = this.#stop;
    if (stop === undefined) return;
    this.#stop = undefined;
    this.button.disabled = true;
    try {
      await stop();
    } catch (error) {
      put(this.status, String(error));
    }
    put(this.button, 'Start');
    this.button.disabled = false;
    end(this);
  }

  async #start(): Promise<void> {
    this.#starting ??= this.#starts().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  async #starts(): Promise<void> {
    this.button.disabled = true;
    put(this.status, '');
    try {
      await begin(this);
      this.#stop = await this.#begin();
      put(this.button, 'Stop');
    } catch (error) {
      put(this.status, String(error));
      end(this);
    }
    this.button.disabled = false;
  }
}
