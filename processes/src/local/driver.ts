/**
 * The driver of a space without a server (drivers/driver.ts): it finds the broker of the space, or makes one in this
 * process.
 *
 *     looking --> dialling --> up --> looking            closed at any time
 *        ^            |         |
 *        |            |         +--- the connection ends, a call is not answered, or another broker calls
 *        +-- nobody is there or answers: make the next generation (generations.ts)
 *
 * Two things make this process take over. The broker's process has ended: then it refuses, and the process's own socket
 * m.<member> refuses too. Or the broker does not answer for `PATIENCE`: then it may be stopped, or its process computes
 * for long. A takeover is right at any time, so the timer decides about progress alone. Who only waits has no call that
 * is not answered. So a process that is needed sends pings.
 *
 * A broker serves in the main thread at first, because a thread takes longer to start than a short program lives. If the
 * process lives for `SOON`, a thread of the process takes over (broker-thread.ts). So a main thread that computes for long
 * stops nobody.
 *
 * The member's own socket is bound under another name and gets its name when it listens. So a socket with this name that
 * refuses is of a process that has ended, or has closed the space. It stays until a broker removes it.
 */
import { closeSync, renameSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { clock, type Timer } from '../clock.js';
import type { Driver, StopListening } from '../drivers/driver.js';
import { SpaceError } from '../errors.js';
import { eventsHandled } from '../ticks.js';
import { Broker } from './broker.js';
import type { ThreadData } from './broker-thread.js';
import { Folder, type Generation, newMember, pidOf, random } from './generations.js';
import { Lines, lineOf } from './lines.js';
import { address, hasFiles, showsEnd } from './platform.js';
import { THREAD } from './thread-source.js';

/** How long a broker may take to answer, in milliseconds. Doubles with each takeover in a row. */
const PATIENCE = 1500;
const MOST_PATIENCE = 48_000;
/** How often a process that is needed sends a ping, in milliseconds. */
const PING = 400;
/** How long a broker serves in the main thread, in milliseconds. */
const SOON = 200;
/**
 * A process that is younger than `YOUNG` leaves a broker's place to an older one for up to `YIELD`, because it may soon
 * end. In milliseconds.
 */
const YOUNG = 100;
const YIELD = { least: 2, most: 10 };
/** The pauses between two attempts to find a broker, in milliseconds. */
const PAUSE = { first: 1, most: 50 };

type Found = 'up' | 'refused' | 'silent';

interface Pending {
  readonly sentAt: number;
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

/** Returns a driver. folder: makes the folder of the space if it does not exist, and returns its path. */
export const localDriver = (folder: () => string): Driver => new Member(folder);

class Member implements Driver {
  readonly cluster = false;
  readonly knowsDeaths = true;
  readonly longestPause = 20;
  readonly #makeFolder: () => string;
  readonly #folder: Folder;
  readonly #name = newMember();
  /** The member's own socket. */
  #own: Server | undefined;
  #events: Parameters<Driver['watch']>[0] | undefined;
  #listening: Promise<void> | undefined;
  /** The broker that this process has made last. */
  #broker: Broker | undefined;
  #thread: Worker | undefined;
  /** Why the last broker of this process has ended. */
  #trouble: Error | undefined;
  #isLooking = false;
  #isClosed = false;
  #wasUp = false;
  #isNeeded = true;
  /** The connection to the broker, and the broker's generation. */
  #socket: Socket | undefined;
  #generation: Generation | undefined;
  readonly #pending = new Map<number, Pending>();
  #last = 0;
  readonly #channels = new Map<string, (message: string) => void>();
  #patience = PATIENCE;
  #watch: Timer | undefined;
  #error = new Error('not connected');

  constructor(folder: () => string) {
    this.#makeFolder = folder;
    this.#folder = new Folder(folder());
  }

  // The driver --------------------------------------------------------------------------------------------------------

  watch(events: Parameters<Driver['watch']>[0]): void {
    this.#events = events;
    void this.#look();
  }

  connect(): void {
    void this.#look();
  }

  run(_script: unknown, _keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#send(args);
  }

  async listen(channel: string, heard: (message: string) => void): Promise<StopListening> {
    if (!this.#socket) throw this.#error;
    const sid = channel.slice(-16);
    this.#channels.set(sid, heard);
    return async () => {
      this.#channels.delete(sid);
    };
  }

  async confirm(): Promise<number> {
    return 0;
  }

  async info(): Promise<Map<string, string>> {
    return new Map();
  }

  proofOfLife(): number | undefined {
    const fd = (this.#own as unknown as { readonly _handle?: { readonly fd?: number } } | undefined)?._handle?.fd;
    return fd !== undefined && fd > 2 ? fd : undefined;
  }

  keepAlive(alive: boolean): void {
    this.#isNeeded = alive;
    if (alive) this.#socket?.ref();
    else this.#socket?.unref();
    this.#watchOver();
  }

  reset(error = new Error('the connection was reset')): void {
    this.#lose(error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#lose(new Error('the space is closed'));
    this.#broker?.end();
    await this.#thread?.terminate();
    await this.#listening?.catch(() => {});
    this.#own?.close();
    if (this.#generation) closeSync(this.#generation.fd);
    this.#generation = undefined;
  }

  // Looking for the broker --------------------------------------------------------------------------------------------

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    let pause = PAUSE.first;
    try {
      while (!this.#isClosed && !this.#socket) {
        try {
          this.#listening ??= this.#listen();
          await this.#listening;
          if (await this.#attempt()) continue;
        } catch (error) {
          // Somebody has removed the folder.
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#listening = undefined;
          // Who has never been up cannot lose anything, so its caller hears at once of what will not pass by itself.
          const givesUp = error instanceof SpaceError && !this.#wasUp;
          this.#events?.down(error as Error, givesUp);
          if (givesUp) return;
          pause = PAUSE.most;
        }
        await new Promise<void>((resolve) => {
          clock.after(pause * (0.5 + Math.random()), resolve, this.#isNeeded);
        });
        pause = Math.min(PAUSE.most, 2 * pause);
      }
    } finally {
      this.#isLooking = false;
    }
  }

  /** Listens at the member's own socket, in a folder that may be made anew. */
  async #listen(): Promise<void> {
    this.#makeFolder();
    this.#own?.close();
    const own = createServer((socket) => this.#called(socket));
    this.#own = own;
    own.unref();
    const draft = this.#folder.of(`t.${random()}`);
    await new Promise<void>((resolve, reject) => {
      own.once('error', reject);
      own.listen({ path: address(draft, this.#name), exclusive: true }, resolve);
    });
    if (!hasFiles) writeFileSync(draft, '');
    renameSync(draft, this.#folder.of(`m.${this.#name}`));
  }

  /** Returns whether there is reason to try again at once. */
  async #attempt(): Promise<boolean> {
    const generation = this.#folder.highest();
    if (this.#generation) closeSync(this.#generation.fd);
    this.#generation = generation;
    if (!generation) return this.#usurp();
    const isOwn = generation.address.member === this.#name;
    const found = await this.#dial(generation);
    if (found === 'up') return true;
    if (this.#isClosed) return false;
    // The broker does not listen yet, or not any more.
    if (found === 'refused' && !isOwn && !(await this.#hasEnded(generation.address.member))) return this.#waits();
    if (found === 'silent') this.#patience = Math.min(MOST_PATIENCE, 2 * this.#patience);
    else if (this.#yields(generation)) {
      await new Promise<void>((resolve) => {
        clock.after(YIELD.least + Math.random() * (YIELD.most - YIELD.least), resolve, this.#isNeeded);
      });
      return true;
    }
    return this.#usurp();
  }

  readonly #bornAt = clock.now();
  /** The generation whose place this process has left to others for a moment. */
  #yieldedAt = 0;

  /** Whether this process is young, and has not yet waited for another one to take over from the generation. */
  #yields({ number, address }: Generation): boolean {
    if (clock.now() - this.#bornAt > YOUNG || this.#yieldedAt === number) return false;
    this.#yieldedAt = number;
    return this.#folder.members().some((member) => member !== this.#name && member !== address.member);
  }

  /** Since when the broker of the present generation does not listen. */
  #refusedSince: { readonly number: number; readonly at: number } | undefined;

  /** The process of the broker lives, and the broker does not listen. Returns whether this process has taken over. */
  async #waits(): Promise<boolean> {
    const { number } = this.#generation as Generation;
    if (this.#refusedSince?.number !== number) this.#refusedSince = { number, at: clock.now() };
    if (clock.now() - this.#refusedSince.at < this.#patience) return false;
    this.#patience = Math.min(MOST_PATIENCE, 2 * this.#patience);
    return this.#usurp();
  }

  /** Takes over, unless somebody else is faster. Returns true: there is a broker to look for. */
  async #usurp(): Promise<boolean> {
    const before = this.#generation;
    this.#generation = undefined;
    let broker: Broker | undefined;
    try {
      broker = await Broker.start(this.#folder, before, this.#name, (error) => this.#ended(error));
    } catch (error) {
      // An error of the file system has a code. All else is an error of what the journal says.
      if ((error as NodeJS.ErrnoException).code !== undefined) throw error;
      const why = `the journal in ${this.#folder.path} cannot be read: ${(error as Error).message}`;
      throw new SpaceError('JOURNAL', why, error);
    } finally {
      if (before) closeSync(before.fd);
    }
    if (!broker) return true;
    this.#broker?.end();
    void this.#thread?.terminate();
    this.#broker = broker;
    if (this.#isClosed) broker.end();
    else clock.after(SOON, () => this.#startThread(broker), false);
    return true;
  }

  /** Lets a thread take over from the broker of the main thread. */
  #startThread(broker: Broker): void {
    if (broker.isOver) return;
    const workerData: ThreadData = { path: this.#folder.path, member: this.#name };
    const thread = new Worker(THREAD, { eval: true, execArgv: [], workerData });
    this.#thread = thread;
    // If the thread fails, the broker of the main thread goes on, or somebody takes over.
    thread.on('error', (error) => this.#ended(error));
    thread.on('message', (text) => this.#ended(new Error(text)));
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    thread.unref();
  }

  /** A broker of this process has ended. If something was wrong, whoever loses the connection hears of it. */
  #ended(error: unknown): void {
    if (error) this.#trouble = error as Error;
  }

  /** Whether the process of a member has ended, or has closed the space. */
  #hasEnded(member: string): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(address(this.#folder.of(`m.${member}`), member));
      socket.on('connect', () => {
        socket.destroy();
        resolve(false);
      });
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(showsEnd(error.code, pidOf(member))));
    });
  }

  #dial(generation: Generation): Promise<Found> {
    return new Promise((resolve) => {
      const { path, cookie } = generation.address;
      const socket = connect(path);
      const lines = new Lines();
      const sentAt = clock.now();
      const late = (): void => void this.#isSilent(sentAt).then((is) => is && over('silent'));
      const timer = clock.after(this.#patience, late, this.#isNeeded);
      const over = (found: Found): void => {
        clock.stop(timer);
        resolve(found);
        if (found !== 'up') socket.destroy();
      };
      socket.setEncoding('utf8');
      if (!this.#isNeeded) socket.unref();
      socket.on('connect', () => socket.write(lineOf(cookie, this.#name)));
      socket.on('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ECONNREFUSED' || code === 'ENOENT') over('refused');
      });
      socket.on('close', () => {
        if (this.#socket === socket) this.#lose(new Error('the broker has ended'));
        else over('refused');
      });
      socket.on('data', (text) => {
        for (const line of lines.push(`${text}`)) {
          if (this.#socket !== socket) {
            if (line[0] !== 'ready' || this.#isClosed || this.#socket) return over('refused');
            this.#socket = socket;
            over('up');
            this.#isUp();
          } else {
            this.#hear(line);
          }
        }
      });
    });
  }

  /** All that has come by now is read before anybody is suspected, because this process may itself have stood still. */
  async #isSilent(sentAt: number): Promise<boolean> {
    await eventsHandled();
    return clock.now() - sentAt >= this.#patience;
  }

  #isUp(): void {
    this.#wasUp = true;
    this.keepAlive(this.#isNeeded);
    const socket = this.#socket;
    queueMicrotask(() => {
      if (this.#socket === socket) this.#events?.up();
    });
  }

  /** A broker has called. Its line tells its generation. */
  #called(socket: Socket): void {
    const lines = new Lines();
    socket.unref();
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    socket.on('data', (text) => {
      const [line] = lines.push(`${text}`);
      const isLater = Number(line?.[0]) > (this.#generation?.number ?? Number.POSITIVE_INFINITY);
      if (this.#socket && isLater) this.#lose(new Error('another broker has taken over'));
    });
  }

  // The connection ----------------------------------------------------------------------------------------------------

  #send(args: readonly string[] | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.#socket) return reject(this.#error);
      const id = ++this.#last;
      this.#pending.set(id, { sentAt: clock.now(), resolve, reject });
      this.#socket.write(args ? lineOf(id, args) : lineOf(id));
      this.#watchOver();
    });
  }

  #hear([id, value, text]: readonly unknown[]): void {
    if (id === 0) {
      this.#channels.get(value as string)?.(text as string);
      return;
    }
    this.#patience = PATIENCE;
    const pending = this.#pending.get(id as number);
    this.#pending.delete(id as number);
    if (value === null) pending?.reject(new Error(`${text}`));
    else pending?.resolve(value);
  }

  /** While calls are not answered, looks whether the broker is silent. While this process is needed, sends pings. */
  #watchOver(): void {
    if (this.#watch !== undefined || !this.#socket || (this.#pending.size === 0 && !this.#isNeeded)) return;
    const [oldest] = this.#pending.values();
    const left = oldest ? Math.max(1, oldest.sentAt + this.#patience - clock.now()) : PING;
    this.#watch = clock.after(left, () => void this.#lookOver(), false);
  }

  async #lookOver(): Promise<void> {
    const socket = this.#socket;
    const [oldest] = this.#pending.values();
    if (socket && oldest && (await this.#isSilent(oldest.sentAt))) {
      // The answer may have been read meanwhile.
      const [still] = this.#pending.values();
      if (this.#socket === socket && still === oldest) await this.#suspect(socket);
    }
    this.#watch = undefined;
    if (this.#pending.size === 0 && this.#isNeeded) this.#send(undefined).catch(() => {});
    else this.#watchOver();
  }

  /** The broker does not answer: takes over from it. */
  async #suspect(socket: Socket): Promise<void> {
    this.#patience = Math.min(MOST_PATIENCE, 2 * this.#patience);
    await this.#usurp().catch((error) => this.#events?.down(error as Error));
    if (this.#socket === socket) this.#lose(new Error('the broker does not answer'));
  }

  /** The connection is over. What is not answered is rejected. */
  #lose(why: Error): void {
    const error = this.#trouble ?? why;
    this.#trouble = undefined;
    const socket = this.#socket;
    this.#error = error;
    this.#socket = undefined;
    socket?.destroy();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    if (socket && !this.#isClosed) this.#events?.down(error);
    for (const { reject } of pending) reject(error);
    if (!this.#isClosed) void this.#look();
  }
}
