/** The servers of a run, whatever their engine is, the proxy and the clock of the run, and what can be done to them. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JumpingClock } from './clock.js';
import type { Fork } from './history.js';
import type { Network } from './network.js';
import type { ServerAddress } from './plan.js';
import type { State } from './state.js';

export abstract class World {
  readonly dir: string;
  readonly space = 'chaos';
  abstract readonly address: ServerAddress;
  network: Network | undefined;
  clock: JumpingClock | undefined;
  /** Whether one server has the whole state, so that it can be read at one moment. */
  isWhole = true;
  lostTickets = 0;
  /** The times in which two servers had the same data and each went on by itself. In microseconds, monotonic. */
  readonly forks: Fork[] = [];

  readonly #remove = (): void => rmSync(this.dir, { recursive: true, force: true });

  protected constructor() {
    this.dir = mkdtempSync(join(tmpdir(), 'taketurns-chaos-'));
    // The servers may belong to another user, and read the file of the clock here.
    chmodSync(this.dir, 0o755);
    process.on('exit', this.#remove);
  }

  /** Resolves to this world once `build` has built it, or to the reason why `build` cannot build it. */
  protected async built(build: () => Promise<string | undefined>): Promise<this | string> {
    const why = await build();
    if (why === undefined) return this;
    await this.stop();
    return why;
  }

  /** The state of the space on the server that the processes use. */
  abstract state(): Promise<State>;

  /** The server ends the connections of all processes: those for commands, or those for messages. */
  abstract cut(what: 'commands' | 'messages'): Promise<void>;

  /**
   * A replica that lacks the last writes becomes the primary. The replica is promoted, and the processes work on with
   * the old primary for `ms` milliseconds or longer. Then the processes are cut off from the old primary and connect to
   * the new one. The old primary becomes a replica of the new one.
   * @param least how many tickets the replica is to lack.
   */
  abstract promote(ms: number, least?: number): Promise<void>;

  async stop(): Promise<void> {
    this.network?.stop();
    await this.end();
    process.off('exit', this.#remove);
    this.#remove();
  }

  /** Ends the servers. */
  protected abstract end(): Promise<void>;
}

/** The error for servers that have not done what they were told. */
export class Stuck extends Error {}

/** Resolves when the condition holds. A condition that throws does not hold yet. */
export async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > end) throw new Stuck(`after a minute it is not so that ${what}`);
    await sleep(20);
  }
}
