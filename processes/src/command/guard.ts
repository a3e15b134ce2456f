/**
 * Ends the command when its turn is over: it gets SIGTERM, and a moment later whatever is left of it is killed. With a
 * server the turn is a lease, and a guardian sees to this when this program cannot: it was killed, or stands still.
 */
import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DEFAULT_LEASE } from '../options.js';
import { beside } from '../runtime/beside.js';
import { DEAD_AFTER, LOST_AFTER } from '../session/lease.js';
import { startOf, Tree } from './tree.js';

/** What `run` tells the guardian. */
export interface Word {
  readonly command?: { readonly pid: number; readonly start: string | undefined };
  /**
   * In how many milliseconds the command gets SIGTERM if this program has not sent it, and is killed. These are times
   * from now, since two processes need not have the same clock.
   */
  readonly left?: { readonly toTell: number; readonly toKill: number };
  /** The command has got SIGTERM. */
  readonly isTold?: true;
  /** The command has ended. */
  readonly isOver?: true;
}

/** Parts of the time between the loss of the turn and the moment when others can get it. */
const TELL_AFTER = 0.2;
const KILL_AFTER = 0.6;

const GUARDIAN = fileURLToPath(beside('guardian', import.meta.url));

export class Guard {
  /** The time between the loss of the turn and the moment when others can get it; without a server, such a time. */
  readonly #span: number;
  readonly #guardian: ChildProcess | undefined;
  #tree: Tree | undefined;

  /**
   * Starts a guardian if the turn is a lease of a server.
   * @param lease in milliseconds; undefined without a server.
   * @param failed is called if there is no guardian any more.
   */
  constructor(lease: number | undefined, failed: (why: string) => void) {
    this.#span = (DEAD_AFTER - LOST_AFTER) * (lease ?? DEFAULT_LEASE);
    if (lease === undefined) return;
    // What the user's flags load is for this program alone.
    const env = { ...process.env, NODE_OPTIONS: '' };
    const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc'];
    const guardian = fork(GUARDIAN, { detached: true, stdio, execArgv: [], env });
    guardian.on('error', ({ message }) => failed(message));
    guardian.on('exit', (status, signal) => failed(`it has ended with ${signal ?? status}`));
    this.#guardian = guardian;
  }

  #tell(word: Word): void {
    if (this.#guardian?.connected) this.#guardian.send(word, () => {});
  }

  /** The command runs. */
  watch(pid: number): void {
    const start = startOf(pid);
    this.#tree = new Tree(pid, start);
    this.#tell({ command: { pid, start } });
  }

  /** The turn lasts for so many milliseconds from now. */
  renewed(ms: number): void {
    this.#tell({ left: { toTell: ms + TELL_AFTER * this.#span, toKill: ms + KILL_AFTER * this.#span } });
  }

  /** The turn is lost. Resolves when all processes of the command have ended or were killed. */
  async end(): Promise<void> {
    this.#tell({ isTold: true });
    await this.#tree?.end(performance.now() + KILL_AFTER * this.#span);
  }

  /** The command has ended. */
  over(): void {
    this.#guardian?.removeAllListeners('exit');
    this.#tell({ isOver: true });
    if (this.#guardian?.connected) this.#guardian.disconnect();
  }
}
