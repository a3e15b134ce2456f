// The parent's side of a host process: starts it, sends it one run at a time, and ends it when it hangs.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { HostOrder, HostReply, HostResult } from './host.js';

const PROGRAM = fileURLToPath(new URL('./host.js', import.meta.url));

// A host answers by itself when one of its threads hangs; this time is for a host that cannot.
const PATIENCE_MS = 90_000;

export class Host {
  readonly #child: ChildProcess = fork(PROGRAM, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

  run(order: HostOrder): Promise<HostResult> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error, result?: HostResult): void => {
        clearTimeout(timer);
        this.#child.off('message', onMessage).off('exit', onExit).off('error', settle);
        if (result) resolve(result);
        else reject(error);
      };
      const onMessage = (reply: unknown): void => {
        const { result, error } = reply as {
          result?: HostResult;
          error?: string;
        } satisfies Partial<HostReply>;
        settle(new Error(error), result);
      };
      const onExit = (code: number | null, signal: string | null): void =>
        settle(new Error(`its process ended early (${signal ?? `exit status ${code}`})`));
      const timer = setTimeout(
        () => settle(new Error('its process did not answer')),
        PATIENCE_MS + order.seconds * 1000 + order.threads * order.warmUp,
      );
      this.#child.on('message', onMessage).on('exit', onExit).on('error', settle);
      this.#child.send(order);
    });
  }

  /** Ends the process, whatever its threads do. */
  close(): void {
    this.#child.kill('SIGKILL');
  }
}
