/**
 * The processes of a run. Each that ends is replaced while the run lasts. They are ended by their process ids, at the
 * latest when this process ends.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Address, Command, Order, Report } from './plan.js';
import { Register } from './register.js';

const PROGRAM = fileURLToPath(new URL('./client.js', import.meta.url));

/** One process. */
export interface Client {
  readonly child: ChildProcess;
  readonly file: string;
  state: 'starting' | 'working' | 'drained' | 'ended';
  /** When it was killed, in microseconds of the monotonic clock. */
  killedAt: number | undefined;
  /** Whether it is stopped. */
  stopped: boolean;
}

export interface Settings {
  readonly address: Address;
  readonly space: string;
  readonly lease: number;
  readonly tasks: number;
  readonly processes: number;
  /** For the histories. */
  readonly dir: string;
}

export const microseconds = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return Math.round(seconds * 1e6 + nanoseconds / 1e3);
};

export class Clients {
  readonly all: Client[] = [];
  readonly registers = new Map<string, Register>();
  /** What processes complain of, and how they ended when they should not. */
  readonly troubles: string[] = [];
  kills = 0;
  stops = 0;
  #hasRead: ((client: Client) => void) | undefined;
  readonly #settings: Settings;
  #isOver = false;
  readonly #end = (): void => {
    for (const { child } of this.all) child.kill('SIGKILL');
  };

  constructor(settings: Settings) {
    this.#settings = settings;
    process.on('exit', this.#end);
    for (let i = 0; i < settings.processes; i++) this.#start();
  }

  #start(): void {
    const { address, space, lease, tasks, dir } = this.#settings;
    const file = join(dir, `${this.all.length}.history`);
    const order: Order = { address, space, lease, tasks, file, label: `process ${this.all.length}` };
    const child = fork(PROGRAM, [JSON.stringify(order)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    const client: Client = { child, file, state: 'starting', killedAt: undefined, stopped: false };
    this.all.push(client);
    let complaint = '';
    child.stderr?.on('data', (text) => {
      complaint = `${complaint}${text}`.slice(-2000);
    });
    child.on('message', (report: Report) => this.#hear(client, report));
    child.on('error', () => undefined);
    child.on('exit', (code, signal) => {
      const expected = client.killedAt !== undefined || (this.#isOver && code === 0);
      if (!expected) this.troubles.push(`a process has ended: ${signal ?? code} ${complaint.trim()}`);
      client.state = 'ended';
      if (!this.#isOver) this.#start();
    });
  }

  #hear(client: Client, report: Report): void {
    switch (report.is) {
      case 'joined':
        client.state = 'working';
        break;
      case 'drained':
        client.state = 'drained';
        break;
      case 'trouble':
        this.troubles.push(report.text);
        break;
      case 'register': {
        const { id, name, token, base } = report;
        const register = this.registers.get(name) ?? new Register();
        this.registers.set(name, register);
        const version = base === undefined ? register.read(BigInt(token)) : register.write(BigInt(token), base);
        this.#send(client, { is: 'register', id, version });
        if (base === undefined && version !== undefined && !client.stopped) this.#hasRead?.(client);
        break;
      }
    }
  }

  #send({ child }: Client, command: Command): void {
    if (child.connected) child.send(command, () => undefined);
  }

  alive(): Client[] {
    return this.all.filter(({ state }) => state !== 'ended');
  }

  /** Those that take turns now. */
  working(): Client[] {
    return this.all.filter(({ state, killedAt }) => state === 'working' && killedAt === undefined);
  }

  /** Resolves when all take turns. */
  async joined(): Promise<void> {
    while (this.working().length < this.#settings.processes) await sleep(20);
  }

  /** Ends one at random at once, if half of them take turns. */
  kill(): void {
    const working = this.working();
    if (working.length < this.#settings.processes / 2) return;
    const client = working[Math.floor(Math.random() * working.length)] as Client;
    client.killedAt = microseconds();
    client.child.kill('SIGKILL');
    this.kills++;
  }

  /** Stops one at random for a while. */
  async stop(ms: number): Promise<void> {
    const working = this.working().filter(({ stopped }) => !stopped);
    const client = working[Math.floor(Math.random() * working.length)];
    if (client) await this.#stop(client, ms);
  }

  /** Stops the next one that holds something and has read the register, before it writes. */
  async stopHolder(ms: number): Promise<void> {
    const client = await Promise.race([
      new Promise<Client>((resolve) => {
        this.#hasRead = resolve;
      }),
      sleep(500),
    ]);
    this.#hasRead = undefined;
    if (client) await this.#stop(client, ms);
  }

  async #stop(client: Client, ms: number): Promise<void> {
    client.stopped = true;
    client.child.kill('SIGSTOP');
    this.stops++;
    await sleep(ms);
    client.child.kill('SIGCONT');
    client.stopped = false;
  }

  /**
   * Nobody asks any more. Resolves to the number of processes in which somebody still waits when nothing at all has
   * happened for `ms`: nobody was granted anything, and nobody has given anything back or up.
   */
  async drain(ms: number): Promise<number> {
    this.#isOver = true;
    const waiting = () => this.alive().filter(({ state }) => state !== 'drained');
    for (const client of this.alive()) this.#send(client, { is: 'drain' });
    let written = 0;
    let end = performance.now() + ms;
    while (waiting().length > 0 && performance.now() < end) {
      await sleep(20);
      const now = this.alive().reduce(
        (sum, { file }) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
      if (now !== written) end = performance.now() + ms;
      written = now;
    }
    return waiting().length;
  }

  /** All close their space and end. */
  async leave(): Promise<void> {
    const exits = this.alive().map((client) => {
      const exit = once(client.child, 'exit');
      this.#send(client, { is: 'leave' });
      return exit;
    });
    const late = setTimeout(() => this.#end(), 60_000);
    await Promise.all(exits);
    clearTimeout(late);
    process.off('exit', this.#end);
  }
}
