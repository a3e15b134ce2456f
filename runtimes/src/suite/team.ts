/** Starts, calls and ends workers of either kind in one way. */
import { Arena, Semaphore, type ThreadHandle, type WatchedWorker } from 'taketurns';
import { until } from './check.js';
import { threads } from './globals.js';
import type { Answer, Call } from './messages.js';

/** The `Worker` of browsers, Deno and Bun, or that of `worker_threads` in Node, Deno and Bun. */
export type WorkerKind = 'web' | 'node';

interface Either {
  postMessage(call: Call): void;
  terminate(): unknown;
}

export class Member {
  readonly worker: WatchedWorker;
  /** Set by `join`. */
  thread: ThreadHandle | undefined;
  readonly #either: Either;
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #last = 0;
  #over = false;

  constructor(kind: WorkerKind, without: string) {
    const url = new URL(without ? `./worker.js?without=${without}` : './worker.js', import.meta.url);
    if (kind === 'node') {
      if (threads === undefined) throw new Error('this runtime has no worker_threads');
      const worker = new threads.Worker(url);
      worker.on('message', (answer: Answer) => this.#answered(answer));
      worker.on('error', (error) => this.#fail(error.message));
      this.#either = worker;
    } else {
      const worker = new Worker(url, { type: 'module' });
      worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => this.#answered(data));
      worker.addEventListener('error', (event) => {
        event.preventDefault();
        this.#fail(event.message);
      });
      this.#either = worker;
    }
    this.worker = this.#either as unknown as WatchedWorker;
  }

  /** Whether the worker has no call under way, and may be given other work. */
  get isIdle(): boolean {
    return !this.#over && this.#calls.size === 0;
  }

  call<T = unknown>(job: string, ...args: readonly unknown[]): Promise<T> {
    const id = ++this.#last;
    const answer = new Promise<unknown>((resolve, reject) => this.#calls.set(id, { resolve, reject }));
    // The caller handles a failure when it awaits the answer. If the case ends the member, nobody awaits the answer.
    answer.catch(() => {});
    this.#either.postMessage({ id, job, args });
    return answer as Promise<T>;
  }

  /** Shares this thread's default arena with the worker. Where workers do not inherit it, this one line is needed. */
  async join(): Promise<this> {
    this.thread = await this.call<ThreadHandle>('join', Arena.default.handle);
    return this;
  }

  terminate(): void {
    this.#over = true;
    this.#calls.clear();
    this.#either.terminate();
  }

  #answered({ id, value, error }: Answer): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) call?.reject(Object.assign(new Error(error.message), { name: error.name }));
    else call?.resolve(value);
  }

  #fail(message: string): void {
    this.#over = true;
    for (const { reject } of this.#calls.values()) reject(new Error(`the worker failed: ${message}`));
    this.#calls.clear();
  }
}

/** The workers of one case. Those that are idle at its end go on to the next case. */
export class Team {
  readonly kind: WorkerKind;
  readonly #without: string;
  #idle: Member[] = [];
  #inUse: Member[] = [];

  constructor(kind: WorkerKind, without: string) {
    this.kind = kind;
    this.#without = without;
  }

  /** A worker that has only the arena that it inherits, if any. */
  stranger(): Member {
    const member = new Member(this.kind, this.#without);
    this.#inUse.push(member);
    return member;
  }

  /** Workers with this thread's default arena. */
  async members(count: number): Promise<Member[]> {
    const members = this.#idle.splice(0, count);
    this.#inUse.push(...members);
    while (members.length < count) members.push(this.stranger());
    return Promise.all(members.map((member) => (member.thread ? member : member.join())));
  }

  async member(): Promise<Member> {
    return (await this.members(1))[0] as Member;
  }

  /** Lets members do a job that begins behind a gate. The gate opens when all of them stand there. */
  async together(members: readonly Member[], job: string, ...args: readonly unknown[]): Promise<void> {
    const gate = new Semaphore(0);
    const done = Promise.all(members.map((member) => member.call(job, gate.handle, ...args)));
    // A member that fails before the gate never stands at the gate.
    await Promise.race([done, until('all stand at the gate', () => gate.waiting === members.length)]);
    gate.release(members.length);
    await done;
  }

  endOfCase(): void {
    for (const member of this.#inUse) {
      if (member.isIdle && member.thread) this.#idle.push(member);
      else member.terminate();
    }
    this.#inUse = [];
  }

  end(): void {
    this.endOfCase();
    for (const member of this.#idle) member.terminate();
    this.#idle = [];
  }
}
