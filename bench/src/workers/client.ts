// The parent's side of a host process. It starts the host, sends one run at a time to it, and ends it if it hangs.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { HostOrder, HostReply, HostResult } from './host.js';

const PROGRAM = fileURLToPath(new URL('./host.js', import.meta.url));

// If a thread of a host hangs, the host itself reports that. This longer time is for a host that cannot answer at all.
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
