/** Real worker threads that do jobs for a test: the modules of test/workers/jobs/. */
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { threadsOfProcess } from './os-threads.js';

const MEMBER = new URL('../workers/member.mjs', import.meta.url);

/** The error of a job, as the test receives it. On the way the error loses its class, but keeps its name. */
export interface Failure {
  readonly name: string;
  readonly message: string;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: Failure;
}

interface Pending {
  readonly job: string;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const living = new Set<Member>();

// A test that is over time cannot say which of its workers did not go on. The workers can.
afterEach(({ task }) => {
  if (task.result?.state !== 'fail' || living.size === 0) return;
  console.error(['Workers:', ...living, 'Threads of the process:', ...threadsOfProcess()].join('\n  '));
});

afterAll(async () => {
  await Promise.all([...living].map((member) => member.kill()));
});

export class Member {
  readonly worker: Worker;
  /** Fulfilled with the exit code once the thread is gone. */
  readonly exited: Promise<number>;
  readonly #pending = new Map<number, Pending>();
  #next = 0;
  #stage: 'starts' | 'runs' | 'leaves' = 'starts';

  /** A member with `core` knows only the classes of `taketurns`, and starts in half the time. */
  constructor(workerData?: unknown, { core = false } = {}) {
    this.worker = new Worker(MEMBER, { workerData, argv: core ? ['core'] : [] });
    living.add(this);
    this.worker.on('online', () => {
      if (this.#stage === 'starts') this.#stage = 'runs';
    });
    this.worker.on('message', ({ id, value, failure }: Answer) => {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (failure) pending?.reject(Object.assign(new Error(failure.message), { name: failure.name }));
      else pending?.resolve(value);
    });
    this.worker.on('error', (error) => this.#fail(error));
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', (code) => {
        living.delete(this);
        this.#fail(new Error(`the worker has exited with ${code}`));
        resolve(code);
      });
    });
  }

  /** Has the worker do test/workers/jobs/<job>.mjs. Returns the job's result, or rejects with its error. */
  run<T = void>(job: string, args: object): Promise<T> {
    const id = this.#next++;
    const answer = new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { job, resolve: resolve as Pending['resolve'], reject });
    });
    // A caller that awaits the answer sees the failure. A test that ends earlier must not fail because of it.
    answer.catch(() => {});
    this.worker.postMessage({ id, job, args });
    return answer;
  }

  /** Lets the worker end by itself. */
  leave(): Promise<number> {
    this.#stage = 'leaves';
    this.worker.postMessage('leave');
    return this.exited;
  }

  /** What the worker has been asked and has not answered, for the report of a test that failed. */
  toString(): string {
    const jobs = [...this.#pending.values()].map(({ job }) => job);
    return `worker ${this.worker.threadId} ${this.#stage}, and does ${jobs.join(', ') || 'nothing'}`;
  }

  /** Whether the worker is doing a job. */
  get busy(): boolean {
    return this.#pending.size > 0;
  }

  async kill(): Promise<void> {
    await this.worker.terminate();
    await this.exited;
  }

  #fail(reason: unknown): void {
    for (const pending of this.#pending.values()) pending.reject(reason);
    this.#pending.clear();
  }
}

/**
 * Makes `count` workers, which end with the test file. A failed test may leave workers blocked. They are replaced
 * before each test, so one failure does not make all other tests fail.
 */
export function team(count: number, options: { core?: boolean } = {}): Member[] {
  const members: Member[] = [];
  beforeEach(async () => {
    for (let i = 0; i < count; i++) {
      const member = members[i];
      if (member && !member.busy) continue;
      await member?.kill();
      members[i] = new Member(undefined, options);
    }
  });
  return members;
}

/** Has all members do the same job. The arguments of each member also contain its index. */
export function together<T = void>(members: readonly Member[], job: string, args: object): Promise<T[]> {
  const barrier = new Int32Array(new SharedArrayBuffer(4));
  return Promise.all(
    members.map((member, index) => member.run<T>(job, { ...args, index, barrier, parties: members.length })),
  );
}
