/**
 * How a member calls its broker: over a socket, or directly if both are in one thread.
 *
 *     dialling --> up --> over           over a socket: it dials, says who it is, and is up when the broker has answered
 *         +--- refused or silent ---^
 *
 * A broker that is stopped answers nothing. So while a call over a socket is not answered, the connection looks whether
 * the broker is silent; and while the process is needed and has no call under way, it sends pings, because who only
 * waits would not notice otherwise. A broker in the same thread is asked as often whether it is current.
 */
import { connect, type Socket } from 'node:net';
import { clock, type Timer } from '../runtime/clock.js';
import { eventsHandled, later, microtask } from '../runtime/ticks.js';
import type { Broker } from './broker.js';
import type { Folder, Generation } from './generations.js';
import { type Line, lineOf, onLines } from './lines.js';
import { LOOK, Patience } from './patience.js';
import { Vigil } from './vigil.js';

/**
 * How often a process that is needed sends a ping, or asks the broker in its own thread, in milliseconds. Each of them
 * wakes both processes. An end of the broker shows by itself, so this is only for a broker that is stopped.
 */
const PING = 1000;
/** After so many calls of a broker in this thread, the event loop goes round before the next call. */
const MOST_IN_A_ROW = 32;

/** Whose connection it is. */
export interface Owner {
  readonly name: string;
  /** Whether the process must stay alive. */
  readonly isNeeded: boolean;
  /** How long the broker may take to answer, in milliseconds. */
  readonly patience: number;
  /** The socket with which the owner dials, if it does. */
  dialling: Socket | undefined;
  /** Resolves when the owner listens at its own socket. */
  listens(): Promise<void>;
  /** The broker has answered something. */
  answered(): void;
  /** The broker tells a session something. */
  hear(sid: string, text: string): void;
  /** The broker has not answered for as long as it may take. */
  suspect(connection: Connection): Promise<void>;
  /** The broker has ended the connection, after it was up. */
  over(connection: Connection): void;
}

export interface Connection {
  /** Resolves to the reply of the script. Rejects if the connection ends before. Calls are made in their order. */
  call(args: readonly string[]): Promise<unknown>;
  /** Is called when the owner begins to be needed. */
  watch(): void;
  /** Ends the connection: what is not answered is rejected. */
  end(why: Error): void;
}

interface Pending {
  readonly patience: Patience;
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

type Dialled = SocketConnection | 'refused' | 'silent';

/** The time from the first look for the broker until its connection is up, or is not to be. */
class Dial {
  readonly #owner: Owner;
  readonly #socket: Socket;
  readonly #resolve: (found: Dialled) => void;
  readonly #reject: (error: Error) => void;
  #patience = new Patience();
  #timer: Timer;
  /** The broker has answered. */
  #isReady = false;
  #isOver = false;
  /** What the broker has told a session before the connection is up. */
  readonly #early: Line[] = [];

  constructor(owner: Owner, socket: Socket, resolve: (found: Dialled) => void, reject: (error: Error) => void) {
    this.#owner = owner;
    this.#socket = socket;
    this.#resolve = resolve;
    this.#reject = reject;
    owner.dialling = socket;
    this.#wait();
  }

  #wait(): void {
    this.#timer = clock.after(LOOK, () => void this.#look(), this.#owner.isNeeded);
  }

  async #look(): Promise<void> {
    await eventsHandled();
    // A broker that is ready has answered.
    if (this.#isOver || this.#isReady) return;
    if (this.#patience.isOver(this.#owner.patience)) this.over('silent');
    else this.#wait();
  }

  /** The socket is connected, and the broker has been told who dials. */
  connected(): void {
    this.#patience = new Patience();
  }

  /** Takes a line of the broker. Calls `up`, with what it has told a session, when the owner listens too. */
  hear(line: Line, up: (early: readonly Line[]) => void): void {
    if (this.#isReady) this.#early.push(line);
    else if (line[0] !== 'ready') this.over('refused');
    else {
      this.#isReady = true;
      const listens = (): void => {
        if (this.#socket.destroyed) this.over('refused');
        else up(this.#early);
      };
      this.#owner.listens().then(listens, (error) => this.failed(error));
    }
  }

  /** The owner cannot listen. */
  failed(error: Error): void {
    this.#reject(error);
    this.over('refused');
  }

  over(found: Dialled): void {
    this.#isOver = true;
    clock.stop(this.#timer);
    if (this.#owner.dialling === this.#socket) this.#owner.dialling = undefined;
    this.#resolve(found);
    if (typeof found === 'string') this.#socket.destroy();
  }
}

export class SocketConnection implements Connection {
  readonly #owner: Owner;
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  /** A broker that is awake answers at once. */
  readonly #vigil = new Vigil();
  #last = 0;
  #isUp = false;
  #isOver = false;
  /** The timer of the next look or ping, and whether it is for a ping. */
  #timer: Timer;
  #isResting = false;

  private constructor(owner: Owner, socket: Socket) {
    this.#owner = owner;
    this.#socket = socket;
  }

  /** Resolves to the connection when it is up, or says why it is not. Rejects if the owner cannot listen. */
  static dial(folder: Folder, { address }: Generation, owner: Owner): Promise<Dialled> {
    return new Promise((resolve, reject) => {
      const socket = connect(folder.listensAt(address));
      const connection = new SocketConnection(owner, socket);
      const dial = new Dial(owner, socket, resolve, reject);
      if (!owner.isNeeded) socket.unref();
      socket.on('connect', () => {
        socket.write(lineOf(address.cookie, owner.name));
        dial.connected();
        // The broker answers meanwhile.
        owner.listens().catch((error) => dial.failed(error));
      });
      // 'close' follows each error.
      socket.on('close', () => {
        if (connection.#isUp) owner.over(connection);
        else dial.over('refused');
      });
      const up = (early: readonly Line[]): void => {
        connection.#isUp = true;
        // The owner's own socket keeps the process alive from now on.
        socket.unref();
        dial.over(connection);
        for (const each of early) connection.#hear(each);
      };
      onLines(socket, (lines) => {
        for (const line of lines) {
          if (connection.#isUp) connection.#hear(line);
          else dial.hear(line, up);
        }
      });
    });
  }

  call(args: readonly string[] | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#pending.set(id, { patience: new Patience(), resolve, reject });
      this.#socket.write(args ? lineOf(id, args) : lineOf(id));
      this.watch();
      this.#vigil.begin();
    });
  }

  #hear([id, value, text]: readonly unknown[]): void {
    if (id === 0) {
      this.#owner.hear(value as string, text as string);
      return;
    }
    this.#owner.answered();
    const pending = this.#pending.get(id as number);
    this.#pending.delete(id as number);
    if (this.#pending.size === 0) this.#vigil.end();
    if (value === null) pending?.reject(new Error(`${text}`));
    else pending?.resolve(value);
  }

  watch(): void {
    const isWaiting = this.#pending.size > 0;
    if (this.#isOver || !(isWaiting || this.#owner.isNeeded)) return;
    if (this.#timer !== undefined && !(isWaiting && this.#isResting)) return;
    clock.stop(this.#timer);
    this.#isResting = !isWaiting;
    this.#timer = clock.after(isWaiting ? LOOK : PING, () => void this.#look(), false);
  }

  async #look(): Promise<void> {
    const hasRested = this.#isResting;
    this.#isResting = false;
    if (this.#pending.size > 0) await eventsHandled();
    const [oldest] = this.#pending.values();
    if (oldest?.patience.isOver(this.#owner.patience)) await this.#owner.suspect(this);
    this.#timer = undefined;
    if (this.#isOver) return;
    // After a call it rests before it sends a ping.
    if (hasRested && this.#pending.size === 0 && this.#owner.isNeeded) this.call(undefined).catch(() => {});
    else this.watch();
  }

  end(why: Error): void {
    this.#isOver = true;
    this.#isUp = false;
    clock.stop(this.#timer);
    this.#socket.destroy();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(why);
  }
}

/**
 * Calls the broker of this thread as a function. Such calls are settled by promises alone, so a program that makes one
 * after the other would leave the event loop no time. Therefore the loop goes round after each `MOST_IN_A_ROW` of them.
 */
export class InlineConnection implements Connection {
  readonly #owner: Owner;
  readonly #broker: Broker;
  #why: Error | undefined;
  #timer: Timer;
  /** The calls since the event loop went round, and those that wait until it has gone round. */
  #inARow = 0;
  #delayed = 0;

  constructor(broker: Broker, owner: Owner) {
    this.#owner = owner;
    this.#broker = broker;
    broker.join(owner.name, {
      // The broker may be in the middle of a call.
      tell: (sid, text) => microtask(() => this.#why ?? owner.hear(sid, text)),
      end: () => {},
    });
  }

  async call(args: readonly string[]): Promise<unknown> {
    if (this.#inARow++ === 0)
      later(() => {
        this.#inARow = 0;
      });
    if (this.#inARow > MOST_IN_A_ROW || this.#delayed > 0) {
      this.#delayed++;
      await new Promise<void>(later);
      this.#delayed--;
    }
    if (this.#why) throw this.#why;
    return this.#broker.call(this.#owner.name, args);
  }

  /** While the owner is needed, looks whether the broker is still current: somebody may have removed the folder. */
  watch(): void {
    if (this.#timer !== undefined || this.#why || !this.#owner.isNeeded) return;
    this.#timer = clock.after(PING, () => this.#look(), false);
  }

  #look(): void {
    this.#timer = undefined;
    if (!this.#why) this.#broker.look();
    this.watch();
  }

  end(why: Error): void {
    this.#why = why;
    clock.stop(this.#timer);
  }
}
