/** Processes that share a space without a server, each of them told by messages what to do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('local-program.mjs', import.meta.url));

export interface Granted {
  readonly token: string;
  readonly ownerDied: boolean;
}

export class Member {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #last = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ([id, result, error]: [number, never, string | undefined]) => {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) pending?.resolve(result);
      else pending?.reject(new Error(error));
    });
  }

  /** Starts a process, and waits until it has joined the space. Its files may have so many blocks of 512 bytes. */
  static async start(directory: string, blocks: number | 'unlimited' = 'unlimited'): Promise<Member> {
    const limited = ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, program, directory];
    const child = spawn('sh', limited, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    });
    const member = new Member(child);
    await new Promise<void>((resolve, reject) => {
      member.#pending.set(0, { resolve, reject });
      child.once('exit', (code, signal) => reject(new Error(`the process has ended: ${code ?? signal}`)));
    });
    return member;
  }

  do<T>(what: string, ...args: readonly unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#pending.set(id, { resolve, reject });
      this.#child.send([id, what, ...args]);
    });
  }

  hold(kind: 'mutex' | 'robust' | 'semaphore', name: string, options = {}): Promise<Granted> {
    return this.do('hold', kind, name, options);
  }

  unlock(name: string): Promise<void> {
    return this.do('unlock', name);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  stop(): void {
    this.#child.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child.kill('SIGCONT');
  }
}

/** A folder for the spaces of one test. Its path is short enough for sockets. */
export function folder(): string {
  const path = mkdtempSync('/tmp/tt-');
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Starts so many processes, one after the other. The first one has the broker. */
export async function members(directory: string, count: number): Promise<Member[]> {
  const all: Member[] = [];
  for (let at = 0; at < count; at++) all.push(await Member.start(directory));
  return all;
}
