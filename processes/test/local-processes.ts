/** Processes and threads that share a space without a server, each of them told by messages what to do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('local-program.mjs', import.meta.url));

export interface Granted {
  readonly token: string;
  readonly ownerDied: boolean;
}

/** A process, or a thread of this process. */
interface Runner {
  send(message: readonly unknown[]): void;
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  readonly ended: Promise<unknown>;
}

type Answer = readonly [id: number, result: never, error: string | undefined];

export class Member {
  readonly #runner: Runner;
  readonly #pending = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #last = 0;

  private constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** Resolves when the member has joined the space. source: where its answers come from. */
  static async #joined(source: ChildProcess | Worker, runner: Runner): Promise<Member> {
    const member = new Member(runner);
    const first = new Promise<void>((resolve, reject) => {
      member.#pending.set(0, { resolve, reject });
      runner.ended.then((why) => reject(new Error(`it has ended: ${why}`)), reject);
    });
    source.on('message', ([id, result, error]: Answer) => {
      const pending = member.#pending.get(id);
      member.#pending.delete(id);
      if (error === undefined) pending?.resolve(result);
      else pending?.reject(new Error(error));
    });
    await first;
    return member;
  }

  /**
   * Starts a process, and waits until it has joined the space. Its files may have so many blocks of 512 bytes. by: the
   * program and the first arguments that start it.
   */
  static start(
    directory: string,
    blocks: number | 'unlimited' = 'unlimited',
    by: readonly string[] = [],
  ): Promise<Member> {
    const limited = ['sh', '-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, program, directory];
    const [command = '', ...line] = [...by, ...limited];
    const child = spawn(command, line, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return Member.#joined(child, { send: (message) => child.send(message), signal: (name) => child.kill(name), ended });
  }

  /** Starts a thread of this process. `kill` terminates it, and it cannot be stopped. */
  static startThread(directory: string): Promise<Member> {
    const thread = new Worker(program, { workerData: directory });
    const ended = once(thread, 'exit');
    onTestFinished(async () => {
      await thread.terminate();
    });
    return Member.#joined(thread, {
      send: (message) => thread.postMessage(message),
      signal: () => void thread.terminate(),
      ended,
    });
  }

  do<T>(what: string, ...args: readonly unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#pending.set(id, { resolve, reject });
      this.#runner.send([id, what, ...args]);
    });
  }

  hold(kind: 'mutex' | 'robust' | 'semaphore', name: string, options = {}): Promise<Granted> {
    return this.do('hold', kind, name, options);
  }

  unlock(name: string): Promise<void> {
    return this.do('unlock', name);
  }

  async kill(): Promise<void> {
    this.#runner.signal('SIGKILL');
    await this.#runner.ended;
  }

  stop(): void {
    this.#runner.signal('SIGSTOP');
  }

  goOn(): void {
    this.#runner.signal('SIGCONT');
  }
}

/** A folder for the spaces of one test. Its path is short enough for sockets. */
export function folder(): string {
  const path = mkdtempSync('/tmp/tt-');
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Starts so many processes. The first one has the broker. */
export async function members(directory: string, count: number): Promise<Member[]> {
  const broker = await Member.start(directory);
  return [broker, ...(await Promise.all(Array.from({ length: count - 1 }, () => Member.start(directory))))];
}
