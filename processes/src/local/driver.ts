/**
 * The driver of a space without a server (drivers/driver.ts): it finds the broker of the space, or makes one in this
 * process.
 *
 *     looking --> dialling --> up --> looking            closed at any time
 *        ^            |         |
 *        |            |         +--- the connection ends, a call is not answered, or another broker calls
 *        +-- nobody is there or answers: make the next generation (generations.ts)
 *
 * Two things make this process take over. The broker has ended: then it has ended a connection that was up, or it refuses,
 * and its process's own socket m.<member> refuses too. Or the broker does not answer for `PATIENCE`: then it may be stopped, or its process computes
 * for long, or cannot begin to serve. A takeover is right at any time, so the timer decides about progress alone.
 *
 * A broker serves in the main thread at first, because a thread takes longer to start than a short program lives, and
 * because the calls of its own process are then calls of a function. When another process takes part, and the broker has
 * served for `SOON`, a thread of the process takes over (broker-thread.ts). So a main thread that computes for long stops
 * nobody. Before there is a thread, others usually wait for it for `PATIENCE.inline`.
 *
 * The member's own socket is bound under another name and gets its name when it listens. So a socket with this name that
 * refuses is of a process that has ended, or has closed the space. It stays until a broker removes it. The socket is
 * there before the process is up, so before it can hold anything.
 */
import { lstatSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Worker } from 'node:worker_threads';
import type { Driver, StopListening } from '../drivers/driver.js';
import { SpaceError } from '../errors.js';
import { clock, type Timer } from '../runtime/clock.js';
import { microtask } from '../runtime/ticks.js';
import type { Broker, BrokerEvents } from './broker.js';
import type { ThreadData } from './broker-thread.js';
import { type Connection, InlineConnection, type Owner, SocketConnection } from './connection.js';
import { lookBeside } from './directory.js';
import { close, Folder, type Generation, newMember, pidOf, timeOfDay, VERSION } from './generations.js';
import { ofThread, prepare, toServe } from './later.js';
import { onLines } from './lines.js';
import { Patience } from './patience.js';
import { address, hasFiles, isDenied, isFull, listen, random, userOf } from './platform.js';

/**
 * How long a broker may take to answer, in milliseconds: in the main thread of its process, and in a thread of its own.
 * Doubles with each takeover in a row, up to `MOST_DOUBT` times as long.
 */
const PATIENCE = { inline: 300, thread: 1500 };
const MOST_DOUBT = 32;
/** How long a broker serves in the main thread at least, in milliseconds. */
const SOON = 200;
/**
 * A process that is younger than `YOUNG` leaves a broker's place to an older one for up to `YIELD`, because it may soon
 * end. In milliseconds.
 */
const YOUNG = 100;
const YIELD = [2, 10] as const;
/** The pauses between two attempts to find a broker, in milliseconds. */
const PAUSE = { first: 1, most: 50 };
/**
 * How long a process that is not needed waits before it looks for the next broker, in milliseconds. When a broker ends,
 * many processes wake up at once, and so those that wait for something have the processors first.
 */
const NAP = [50, 200] as const;

/**
 * How long after it is up a process loads what it may need to serve (later.ts), in milliseconds. A program that uses the
 * space only for a moment needs none of it.
 */
const PREPARE = 100;

/** How often a process makes the files of the space young, in milliseconds. */
const DAY = 86_400_000;

const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** Returns a driver. folder: makes the folder of the space if it does not exist, and returns its path. */
export const localDriver = (folder: () => string): Driver => new Member(folder);

class Member implements Driver, Owner {
  readonly cluster = false;
  readonly knowsDeaths = true;
  readonly longestPause = 20;
  readonly randomDigits = () => random();
  readonly codeOf = (trouble: Error) => (isFull(trouble) ? 'DIRECTORY' : undefined);
  readonly #makeFolder: () => string;
  readonly #folder: Folder;
  readonly name = newMember();
  /** The member's own socket, and those with which brokers have called. */
  #own: Server | undefined;
  readonly #callers = new Set<Socket>();
  dialling: Socket | undefined;
  #events: Parameters<Driver['watch']>[0] | undefined;
  #listening: Promise<void> | undefined;
  /** The broker that this process has made last. */
  #broker: Broker | undefined;
  #thread: Worker | undefined;
  /** Why the last broker of this process has ended. */
  #trouble: Error | undefined;
  #isLooking = false;
  #isClosed = false;
  #preparing: Timer;
  /** How many sessions this member has asked for, and how many of them it has left for certain. */
  #opened = 0;
  #left = 0;
  #wasUp = false;
  isNeeded = true;
  /** The connection to the broker, and the broker's generation. */
  #connection: Connection | undefined;
  #generation: Generation | undefined;
  readonly #channels = new Map<string, (message: string) => void>();
  #doubt = 1;
  #error = new Error('not connected');

  constructor(folder: () => string) {
    this.#makeFolder = folder;
    this.#folder = new Folder(folder());
    this.#age();
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
    const reply = this.#connection?.call(args) ?? Promise.reject(this.#error);
    const [, , , letter] = args;
    if (letter === 'O') this.#opened++;
    if (letter !== 'X') return reply;
    const opened = this.#opened;
    return reply.then((answers) => {
      // Another session may have been opened meanwhile.
      if ((answers as readonly unknown[])[0] === 'X') this.#left = opened;
      return answers;
    });
  }

  async listen(channel: string, heard: (message: string) => void): Promise<StopListening> {
    if (!this.#connection) throw this.#error;
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
    this.isNeeded = alive;
    for (const one of [this.#own, this.dialling]) {
      if (alive) one?.ref();
      else one?.unref();
    }
    if (!alive) return;
    this.#wake();
    this.#connection?.watch();
  }

  probe(_key: string, error: Error): void {
    this.reset(error);
  }

  reset(error = this.#error): void {
    this.#lose(error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clock.stop(this.#aging);
    clock.stop(this.#preparing);
    this.#lose(new Error('the space is closed'));
    this.#broker?.end();
    await this.#thread?.terminate();
    await this.#listening?.catch(() => {});
    this.#own?.close();
    // Nobody asks any more for a member that has no session. But whoever joins next asks for the member of the last
    // broker, and would wait for it as long as this process lives.
    const hasSession = this.#left < this.#opened;
    const isAskedFor = hasSession || this.#generation?.address.member === this.name;
    if (!isAskedFor) this.#folder.remove(`m.${this.name}`);
    try {
      // Not everywhere does the end of a socket tell that nobody listens (platform.ts), but another name does.
      if (isAskedFor) renameSync(this.#folder.of(`m.${this.name}`), this.#folder.of(`c.${this.name}`));
    } catch {
      // A broker has removed it already, or this member has never listened.
    }
    this.dialling?.destroy();
    // A broker that finds its connection ended asks again, and is refused now.
    for (const socket of this.#callers) socket.destroy();
    close(this.#generation);
    this.#generation = undefined;
  }

  // Looking for the broker --------------------------------------------------------------------------------------------

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    let pause = PAUSE.first;
    let isGone = false;
    try {
      if (!this.isNeeded) await this.#nap();
      while (!this.#isClosed && !this.#connection) {
        try {
          if (isGone) this.#makeFolder();
          isGone = false;
          if (this.#own && !this.#listening) await this.listens();
          if (await this.#attempt()) continue;
        } catch (error) {
          // Somebody has removed the folder.
          isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
          if (isGone) this.#listening = undefined;
          const why = isDenied(error) ? this.#denied(error as Error) : (error as Error);
          // Who has never been up cannot lose anything, so its caller hears at once of what will not pass by itself.
          const givesUp = why instanceof SpaceError && !this.#wasUp;
          this.#events?.down(why, givesUp);
          if (givesUp) return;
          pause = PAUSE.most;
        }
        await new Promise<void>((resolve) => {
          clock.after(pause * (0.5 + Math.random()), resolve, this.isNeeded);
        });
        pause = Math.min(PAUSE.most, 2 * pause);
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #denied(error: Error): SpaceError {
    return new SpaceError('DIRECTORY', `the folder ${this.#folder.path} cannot be used: ${error.message}`, error);
  }

  /** Waits for a moment, or until the process is needed. */
  #nap(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      clock.after(between(...NAP), resolve, false);
    });
  }

  #wake = (): void => {};

  listens(): Promise<void> {
    this.#listening ??= this.#listen().catch((error) => {
      this.#listening = undefined;
      throw error;
    });
    return this.#listening;
  }

  /**
   * Listens at the member's own socket, in a folder that is made anew if it is gone. If the folder is there after all,
   * the former socket has the name until the new one takes it: a socket with this name that refuses would prove that
   * the process has ended. On Windows the name of a pipe is free only when the former pipe is closed.
   */
  async #listen(): Promise<void> {
    const former = this.#own;
    if (former) this.#makeFolder();
    if (!hasFiles) former?.close();
    const own = createServer((socket) => this.#called(socket));
    this.#own = own;
    if (!this.isNeeded) own.unref();
    const draft = this.#folder.of(`t.${random()}`);
    try {
      await listen(own, address(draft, this.name));
      if (!hasFiles) writeFileSync(draft, '');
      // Root may use files without rights.
      else if (userOf() !== 0 && (lstatSync(draft).mode & 0o600) !== 0o600) {
        this.#folder.remove(draft.slice(this.#folder.path.length + 1));
        throw this.#denied(new Error('the umask of this process takes the rights of its own user; use 077'));
      }
      renameSync(draft, this.#folder.of(`m.${this.name}`));
    } catch (error) {
      own.close();
      this.#own = former;
      if (this.isNeeded) former?.ref();
      else former?.unref();
      throw error;
    }
    if (hasFiles) former?.close();
  }

  #aging: Timer;

  /**
   * Makes the files young every day. Programs that clean /tmp remove old files, and also the socket by which one sees
   * that a process lives: /proc/net/unix has only the name by which a socket was bound.
   */
  #age(): void {
    const touch = (): void => {
      this.#age();
      const { path } = this.#folder;
      const now = timeOfDay() / 1000;
      try {
        for (const name of readdirSync(path)) utimesSync(`${path}/${name}`, now, now);
      } catch {
        // Somebody may have removed one of them meanwhile.
      }
    };
    this.#aging = clock.after(DAY, touch, false);
  }

  /** Returns whether there is reason to try again at once. */
  async #attempt(): Promise<boolean> {
    const generation = this.#folder.highest();
    close(this.#generation);
    this.#generation = generation;
    if (!generation) return this.#usurp();
    if (generation.address.v !== VERSION) return this.#succeeds(generation.address.v);
    if (!this.#wasUp) await lookBeside(this.#folder);
    if (this.#isClosed) return false;
    const isOwn = generation.address.member === this.name;
    const broker = this.#broker;
    if (isOwn && broker?.number === generation.number && !broker.isOver)
      return this.#isUp(new InlineConnection(broker, this));
    const found =
      generation.number === this.#overAt ? 'over' : await SocketConnection.dial(this.#folder, generation, this);
    if (typeof found === 'object') return this.#isUp(found);
    if (this.#isClosed) return false;
    // The broker does not listen yet, or not any more. One of this process that has served is followed at once, and one
    // that could not begin to serve is not: another process may be able to.
    const { member, hasThread } = generation.address;
    const hasBegun = hasThread || broker?.number === generation.number;
    if (found === 'refused' && (isOwn ? !hasBegun : !(await this.#folder.hasEnded(member)))) return this.#waits();
    if (found === 'silent') this.#doubts();
    else if (this.#yields(generation)) {
      await new Promise<void>((resolve) => {
        clock.after(between(...YIELD), resolve, this.isNeeded);
      });
      return true;
    }
    return this.#usurp();
  }

  /** The generation whose broker has ended a connection that was up. So nobody need ask whether it serves. */
  #overAt = 0;

  readonly #bornAt = clock.now();
  /** The generation whose place this process has left to others for a moment. */
  #yieldedAt = 0;

  /** Whether this process is young, and has not yet waited for another one to take over from the generation. */
  #yields({ number, address }: Generation): boolean {
    if (clock.now() - this.#bornAt > YOUNG || this.#yieldedAt === number) return false;
    this.#yieldedAt = number;
    return this.#folder.members().some((member) => member !== this.name && member !== address.member);
  }

  /** For how long brokers have not listened whose processes live. */
  #refused: Patience | undefined;

  /**
   * The process of the broker lives, and the broker does not listen. Returns whether this process has taken over.
   *
   * The time does not begin anew with another generation: a process that cannot write a journal makes one after the
   * other.
   */
  async #waits(): Promise<boolean> {
    this.#refused ??= new Patience();
    if (!this.#refused.isOver(this.patience)) return false;
    this.#refused = undefined;
    this.#doubts();
    return this.#usurp();
  }

  /** For how long somebody has lived who uses another format. */
  #foreign: Patience | undefined;

  /**
   * The space has another format. Takes over if nobody lives who uses it. A process that has the format of this one may
   * be about to do so, and is given a moment.
   */
  async #succeeds(format: unknown): Promise<boolean> {
    const living = await this.#folder.living(this.name);
    if (living === undefined) return this.#usurp();
    this.#foreign ??= new Patience();
    if (!this.#foreign.isOver(PATIENCE.inline)) return false;
    const own = `this one has the format ${VERSION}, and that one ${JSON.stringify(format)}`;
    throw new SpaceError(
      'SETTINGS',
      `another version of the package uses the space in ${this.#folder.path} (${own}): process ${pidOf(living)} lives; ` +
        'end the processes of that version first, or give the space another name',
    );
  }

  /** Takes over, unless somebody else is faster. Returns true: there is a broker to look for. */
  async #usurp(): Promise<boolean> {
    if (this.#isClosed) return true;
    const before = this.#generation;
    this.#generation = undefined;
    let broker: Broker | undefined;
    try {
      await this.listens();
      const { Broker, lastTicket } = await toServe();
      const events: BrokerEvents = {
        ended: (error, ended) => this.#ended(error, ended),
        joined: (joined) => this.#joined(joined),
        lastTicket: () => lastTicket(this.#folder),
      };
      broker = await Broker.start(this.#folder, before, this.name, events);
    } catch (error) {
      // An error of the file system has a code. All else is an error of what the journal says.
      if ((error as NodeJS.ErrnoException).code !== undefined) throw error;
      const why = `the journal in ${this.#folder.path} cannot be read: ${(error as Error).message}`;
      throw new SpaceError('JOURNAL', why, error);
    } finally {
      close(before);
    }
    if (!broker) return true;
    this.#broker?.end();
    void this.#thread?.terminate();
    this.#broker = broker;
    if (this.#isClosed) broker.end();
    return true;
  }

  #joined(broker: Broker): void {
    clock.after(Math.max(1, broker.bornAt + SOON - clock.now()), () => void this.#startThread(broker), false);
  }

  /** Lets a thread take over from the broker of the main thread. */
  async #startThread(broker: Broker): Promise<void> {
    const workerData: ThreadData = { path: this.#folder.path, member: this.name };
    let thread: Worker;
    try {
      // Most processes start no thread, so they do not load this module. Node before 20.16 has only `import` for this,
      // and the CommonJS of Jest has no `import`.
      const loaded = process.getBuiltinModule?.('node:worker_threads') ?? (await import('node:worker_threads'));
      const { SOURCE } = await ofThread();
      if (broker.isOver) return;
      // No flags and no environment: what these load into each thread belongs to the program.
      thread = new loaded.Worker(SOURCE, { eval: true, execArgv: [], env: {}, workerData });
    } catch (error) {
      this.#ended(error);
      return;
    }
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
  #ended(error: unknown, broker?: Broker): void {
    if (error) this.#trouble = error as Error;
    // Only calls tell a member of this thread that its broker has ended.
    if (broker && broker.number === this.#generation?.number) this.#lose(new Error('the broker has ended'));
  }

  /** Returns true, for `#attempt`. */
  #isUp(connection: Connection): true {
    if (this.#isClosed || this.#connection) {
      connection.end(this.#error);
      return true;
    }
    if (!this.#wasUp) this.#preparing = clock.after(PREPARE, prepare, false);
    this.#wasUp = true;
    this.#foreign = undefined;
    this.#refused = undefined;
    this.#connection = connection;
    this.keepAlive(this.isNeeded);
    microtask(() => {
      if (this.#connection === connection) this.#events?.up();
    });
    return true;
  }

  /** A broker has called. Its line tells its generation. */
  #called(socket: Socket): void {
    this.#callers.add(socket);
    socket.on('close', () => this.#callers.delete(socket));
    socket.unref();
    onLines(socket, ([line]) => {
      const isLater = Number(line?.[0]) > (this.#generation?.number ?? Number.POSITIVE_INFINITY);
      if (!isLater) return;
      if (this.#broker && this.#broker.number < Number(line?.[0])) this.#broker.end();
      this.#lose(new Error('another broker has taken over'));
    });
  }

  // The connection ----------------------------------------------------------------------------------------------------

  /** How long the present broker may take to answer, in milliseconds. */
  get patience(): number {
    return (this.#generation?.address.hasThread === false ? PATIENCE.inline : PATIENCE.thread) * this.#doubt;
  }

  #doubts(): void {
    this.#doubt = Math.min(MOST_DOUBT, 2 * this.#doubt);
  }

  answered(): void {
    this.#doubt = 1;
  }

  hear(sid: string, text: string): void {
    this.#channels.get(sid)?.(text);
  }

  async suspect(connection: Connection): Promise<void> {
    this.#doubts();
    await this.#usurp().catch((error) => this.#events?.down(error as Error));
    if (this.#connection === connection) this.#lose(new Error('the broker does not answer'));
  }

  over(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#overAt = this.#generation?.number ?? 0;
    this.#lose(new Error('the broker has ended'));
  }

  /** The connection is over. What is not answered is rejected. */
  #lose(why: Error): void {
    const error = this.#trouble ?? why;
    this.#trouble = undefined;
    const connection = this.#connection;
    this.#error = error;
    this.#connection = undefined;
    if (connection && !this.#isClosed) this.#events?.down(error);
    connection?.end(error);
    if (!this.#isClosed) void this.#look();
  }
}
