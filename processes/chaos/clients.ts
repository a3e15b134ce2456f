/**
 * The processes of a run. While the run lasts, a process that ends is replaced by a spare process, which has loaded its
 * program and waits. If there is no spare process, the next process that has loaded takes the place. All processes are
 * ended by their process ids, at the latest when this process ends.
 *
 *     loading --> spare --> starting --> working --> drained --> ended        from each state, a kill leads to ended
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Address, Command, Order, Report } from './plan.js';
import { Register } from './register.js';

/** For how many milliseconds processes may take to join. */
const PATIENCE = 150_000;
/** The build bundles client.js: one file loads sooner than the hundred of a client library. */
const PROGRAM = fileURLToPath(new URL('./client-bundle.js', import.meta.url));

/** The most processes that load at once. More would only take each other's time. */
const MOST_LOADING = availableParallelism() + 1;

/** One process. */
export interface Client {
  readonly child: ChildProcess;
  readonly file: string;
  state: 'loading' | 'spare' | 'starting' | 'working' | 'drained' | 'ended';
  /** When it was killed, in microseconds of the monotonic clock. */
  killedAt: number | undefined;
  /** Whether the process is stopped by SIGSTOP. */
  stopped: boolean;
}

export interface Settings {
  readonly address: Address;
  readonly space: string;
  readonly lease: number;
  readonly tasks: number;
  readonly processes: number;
  /** The number of spare processes: they have loaded before the run begins, and wait until they replace another. */
  readonly spares: number;
  /** The directory of the histories. */
  readonly dir: string;
  /** The commands that run the program, in turn. Default: this process's own. */
  readonly runtimes?: readonly (readonly string[])[];
  readonly isRough?: boolean;
}

export const microseconds = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return Math.round(seconds * 1e6 + nanoseconds / 1e3);
};

export class Clients {
  readonly all: Client[] = [];
  readonly registers = new Map<string, Register>();
  /** What processes complain of, and how processes ended that should not have ended. */
  readonly troubles: string[] = [];
  kills = 0;
  stops = 0;
  #hasRead: ((client: Client) => void) | undefined;
  readonly #settings: Settings;
  #isOver = false;
  readonly #spares: Client[] = [];
  #loading = 0;
  /** How many places no loaded process has taken yet. */
  #lacking = 0;
  readonly #end = (): void => {
    for (const { child } of this.all) child.kill('SIGKILL');
  };

  constructor(settings: Settings) {
    this.#settings = settings;
    process.on('exit', this.#end);
    this.#lacking = settings.processes;
    this.#loadMore();
  }

  #loadMore(): void {
    const wanted = () => this.#lacking + this.#settings.spares - this.#spares.length;
    while (!this.#isOver && this.#loading < Math.min(MOST_LOADING, wanted())) this.#load();
  }

  /** Lets one more process take turns. */
  #start(): void {
    const spare = this.#spares.shift();
    if (spare) this.#begin(spare);
    else this.#lacking++;
    this.#loadMore();
  }

  #begin(client: Client): void {
    client.state = 'starting';
    this.#send(client, { is: 'begin' });
  }

  #load(): void {
    this.#loading++;
    const { address, space, lease, tasks, dir, runtimes = [[process.execPath]], isRough = false } = this.#settings;
    const file = join(dir, `${this.all.length}.history`);
    const order: Order = { address, space, lease, tasks, file, label: `process ${this.all.length}`, isRough };
    const [execPath, ...execArgv] = runtimes[this.all.length % runtimes.length] as readonly string[];
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
    const child = fork(PROGRAM, [JSON.stringify(order)], { stdio: [...stdio], execPath: execPath as string, execArgv });
    const client: Client = { child, file, state: 'loading', killedAt: undefined, stopped: false };
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
      const { state } = client;
      client.state = 'ended';
      if (this.#isOver) return;
      if (state === 'loading') this.#loading--;
      if (state === 'spare') this.#spares.splice(this.#spares.indexOf(client), 1);
      if (state === 'loading' || state === 'spare') this.#loadMore();
      else this.#start();
    });
  }

  #hear(client: Client, report: Report): void {
    switch (report.is) {
      case 'loaded':
        if (this.#isOver) break;
        this.#loading--;
        if (this.#lacking > 0) {
          this.#lacking--;
          this.#begin(client);
        } else {
          client.state = 'spare';
          this.#spares.push(client);
        }
        this.#loadMore();
        break;
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

  /** The processes that take turns now. */
  working(): Client[] {
    return this.all.filter(({ state, killedAt }) => state === 'working' && killedAt === undefined);
  }

  /** Resolves when all processes take turns, and all spare processes wait. */
  async joined(): Promise<void> {
    const { processes, spares } = this.#settings;
    const end = performance.now() + PATIENCE;
    while (this.working().length < processes || this.#spares.length < spares) {
      if (performance.now() > end) throw new Error(`not all processes have joined: ${this.troubles.join('; ')}`);
      await sleep(20);
    }
  }

  /**
   * Kills a random process, or the one that is given, if at least half of the processes take turns. Returns the number
   * of the process that it has killed.
   */
  kill(pid?: number): number | undefined {
    const working = this.working();
    if (working.length < this.#settings.processes / 2) return undefined;
    const client = this.#chosen(working, pid) as Client;
    this.#kill(client);
    this.kills++;
    return client.child.pid;
  }

  /** The process with this number, or a random one if it is not among them. */
  #chosen(among: readonly Client[], pid: number | undefined): Client | undefined {
    return among.find(({ child }) => child.pid === pid) ?? among[Math.floor(Math.random() * among.length)];
  }

  #kill(client: Client): void {
    client.killedAt = microseconds();
    client.child.kill('SIGKILL');
  }

  /** Stops a random process for a while, or the one that is given. */
  async stop(ms: number, pid?: number): Promise<void> {
    const working = this.working().filter(({ stopped }) => !stopped);
    const client = this.#chosen(working, pid);
    if (client) await this.#stop(client, ms);
  }

  /** Waits until a process holds something and has read the register. Stops this process before it writes. */
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
   * Tells the processes to make no more requests, and waits until all requests have ended. Gives up if no process has
   * noted anything for `ms` milliseconds. Resolves to the number of processes in which a request still waits.
   */
  async drain(ms: number): Promise<number> {
    this.#isOver = true;
    for (const client of this.alive()) if (client.state === 'loading' || client.state === 'spare') this.#kill(client);
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

  /** Lets all processes close their spaces and end. */
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
