/**
 * A link: one connection of the driver. A connection is opened once, becomes ready once and is lost once. It never
 * connects again: a new connection replaces it. Nothing is sent twice, with one exception: a call of the script that
 * the server has not run because it does not know the script.
 *
 *     opening --> connected --> ready --> over      over: all that is pending is rejected, and whoever keeps the link is
 *        +------------+------------------->         told. Each of the two steps to `ready` has its time
 */

import { clock } from '../runtime/clock.js';
import { eventsHandled } from '../runtime/ticks.js';
import type { AnswerTimes } from './answer-times.js';
import type { Script } from './driver.js';

/**
 * What a server is asked for. Each promise rejects if the question cannot be sent, or if the connection is lost before
 * the answer has come. Some clients speak to all nodes of a cluster: `key` tells such a client the node.
 */
export interface Questions {
  /** Runs the script: by its text, or by its SHA-1, which a server that does not know the script refuses (NOSCRIPT). */
  run(script: Script, keys: readonly string[], args: readonly string[], byText: boolean): Promise<unknown>;
  /** Any question that changes nothing. */
  ping(key: string): Promise<unknown>;
  /** The text of these sections of `INFO`. */
  info(section: string, key: string): Promise<unknown>;
  /** Waits until so many replicas have all earlier writes of this connection, but not longer than `timeout`. */
  wait(replicas: number, timeout: number, key: string): Promise<unknown>;
}

/** One connection, made by a client library. */
export interface Connection extends Questions {
  /** Resolves when the server has confirmed the subscription. */
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  /** Does nothing while there is no socket. */
  keepAlive(alive: boolean): void;
  /**
   * Whether the server works on what another connection has asked. Then that connection is not dead, however long it is
   * silent. A server that never lets a call wait for another one needs no such question.
   */
  worksOn?(other: Connection): Promise<boolean>;
  /** Closes the connection at once. It may be lost already. */
  close(): void;
}

/** What a connection reports. It may report more after its end, but then nobody listens. */
export interface Events {
  /** The connection has its socket. `keepAlive` is called now. */
  connected(): void;
  ready(): void;
  /** The connection is over, or could not be opened. `close` is called now. */
  lost(error: unknown): void;
  message(channel: string, text: string): void;
  /** Messages may have been missed, as the connection did not listen. */
  missed(): void;
}

/** The errors of a server that no longer takes writes for the slot. */
export const ELSEWHERE = /^(MOVED|READONLY) | -READONLY /;

/** No answer came in time. Whoever meets the silence makes the error, so its stack tells where that was. */
export class SilentError extends Error {
  constructor() {
    super('the server does not answer');
  }
}

export function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(`${value}`);
}

/**
 * Returns the promise, and calls `late` if it is not settled in time. An answer that came while the process was busy is
 * read first. The timer does not keep the process alive.
 */
export function impatient<T>(promise: Promise<T>, late: (error: Error) => void, most: number): Promise<T> {
  let isSettled = false;
  const look = (): void => {
    if (!isSettled) late(new SilentError());
  };
  const timer = clock.after(most, () => void eventsHandled().then(look), false);
  return promise.finally(() => {
    isSettled = true;
    clock.stop(timer);
  });
}

interface Call {
  readonly script: Script;
  /** Calls of the same first key keep their order. */
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** How a link is opened. */
export interface Opening {
  /** The most milliseconds for each round trip. */
  readonly most: number;
  /** How many round trips it takes from `connected` to `ready`. */
  readonly greeting: number;
  readonly answers: AnswerTimes;
}

export class Link {
  readonly opened: Promise<void>;
  readonly channels = new Set<string>();
  /**
   * How often calls were sent again because the server had not run them. Commands that were sent after such a call may
   * have run before it.
   */
  resent = 0;
  readonly #connection: Connection;
  readonly #onLoss: (error: Error) => void;
  /** The functions that reject the pending calls, in case the connection is lost. */
  readonly #pending = new Set<(error: Error) => void>();
  /** The calls of scripts that are sent and not answered. */
  #flying = 0;
  /** Calls that the server has not run because it does not know the script, in the order in which they were sent. */
  #unknown: Call[] = [];
  /** Calls that wait until the calls that the server has not run are sent again. */
  #held: Call[] = [];
  /** Is called when anything comes over this link, and then no more. */
  #listener: (() => void) | undefined;
  #alive: boolean;
  #over = false;
  #ready = false;

  constructor(
    open: (events: Omit<Events, 'missed'>) => Connection,
    { most, greeting, answers }: Opening,
    alive: boolean,
    message: Events['message'],
    onLoss: (error: Error) => void,
  ) {
    this.#alive = alive;
    this.#onLoss = onLoss;
    let connected = (): void => {};
    let ready = (): void => {};
    const steps = [
      new Promise<void>((resolve) => {
        connected = resolve;
      }),
      new Promise<void>((resolve) => {
        ready = resolve;
      }),
    ] as const;
    let since = clock.now();
    this.#connection = open({
      connected: () => {
        since = clock.now();
        this.keepAlive(this.#alive);
        connected();
      },
      ready: () => {
        answers.greeted(since, greeting);
        this.#ready = true;
        connected();
        ready();
      },
      lost: (error) => this.drop(asError(error)),
      message: (channel, text) => {
        if (this.#over) return;
        this.#heard();
        message(channel, text);
      },
    });
    const step = (one: Promise<void>, ms: number): Promise<void> =>
      impatient(this.#settled(one), (error) => this.drop(error), ms);
    this.opened = step(steps[0], most).then(() => step(steps[1], greeting * most));
    this.opened.catch(() => {});
    this.keepAlive(alive);
  }

  get ready(): boolean {
    return this.#ready && !this.#over;
  }

  /** Whether an answer is still to come. */
  get owes(): boolean {
    return this.#pending.size > 0;
  }

  /** Calls `heard` when anything comes over this link, once. A later call replaces an earlier one. */
  onceHeard(heard: () => void): void {
    this.#listener = heard;
  }

  /** After the end nothing counts: the client library itself rejects what is pending, and no server has answered. */
  #heard(): void {
    const listener = this.#listener;
    if (!listener || this.#over) return;
    this.#listener = undefined;
    listener();
  }

  keepAlive(alive: boolean): void {
    this.#alive = alive;
    if (!this.#over) this.#connection.keepAlive(alive);
  }

  /** Ends the connection. All pending calls are rejected. */
  drop(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener = undefined;
    this.#connection.close();
    this.#onLoss(error);
    for (const reject of this.#pending) reject(error);
    for (const { reject } of [...this.#unknown.splice(0), ...this.#held.splice(0)]) reject(error);
    this.#pending.clear();
  }

  async subscribe(channel: string): Promise<void> {
    try {
      await this.#settled(this.#connection.subscribe(channel));
      this.channels.add(channel);
    } catch (error) {
      if (ELSEWHERE.test((error as Error).message)) this.drop(error as Error);
      throw error;
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    if (this.channels.delete(channel)) await this.#settled(this.#connection.unsubscribe(channel));
  }

  /** Asks the server something besides the script. */
  ask<T>(question: (connection: Questions) => Promise<T>): Promise<T> {
    return this.#settled(question(this.#connection));
  }

  /** Whether the server works on what was asked over another link. False if the server does not tell. */
  async worksOn(other: Link): Promise<boolean> {
    const working = this.#connection.worksOn?.(other.#connection);
    return working ? this.#settled(working).catch(() => false) : false;
  }

  /**
   * Runs a script. The server may forget scripts at any time, and then refuses a call. A refused call has done nothing,
   * and is sent again with the text of the script. No later call of the same key may run before the refused one. So new
   * calls are held back until all sent calls are answered.
   *
   * Still, a call that was sent after the refused one may have run, if another client has brought the script to the
   * server between the two. Then the order is broken, and the connection ends as if the refused calls had been lost
   * with it. Calls of other keys may run before the refused call, because the connection may lead to several servers.
   */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = { script, keys, args, resolve, reject };
      if (this.#unknown.length > 0) this.#held.push(call);
      else this.#send(call, false);
    });
  }

  #send(call: Call, text: boolean): void {
    const { script, keys, args, resolve, reject } = call;
    this.#flying++;
    this.#wait(
      this.#connection.run(script, keys, args, text),
      (reply) => {
        resolve(reply);
        this.#answered(call);
      },
      (error) => {
        if (!text && error.message.startsWith('NOSCRIPT')) {
          this.#unknown.push(call);
          this.#answered();
        } else {
          reject(error);
          this.#answered(call);
          if (ELSEWHERE.test(error.message)) this.drop(error);
        }
      },
    );
  }

  /**
   * Notes that a call was answered. `ran` is this call, or undefined if the server has refused the call because it does
   * not know the script.
   */
  #answered(ran?: Call): void {
    this.#flying--;
    if (this.#over || this.#unknown.length === 0) return;
    if (ran && this.#unknown.some(({ keys }) => keys[0] === ran.keys[0])) {
      this.drop(new Error('the server has forgotten the script, and has run a later call first'));
    } else if (this.#flying === 0) {
      this.resent++;
      const calls = [...this.#unknown.splice(0), ...this.#held.splice(0)];
      for (const [i, call] of calls.entries()) this.#send(call, i === 0);
    }
  }

  /** Calls `resolve` or `reject` when the promise is settled, and `reject` also when the connection is lost. */
  #wait<T>(promise: Promise<T>, resolve: (value: T) => void, reject: (error: Error) => void): void {
    if (this.#over) reject(new Error('the connection is closed'));
    else this.#pending.add(reject);
    promise.then(
      (value) => {
        this.#heard();
        if (this.#pending.delete(reject)) resolve(value);
      },
      (error) => {
        this.#heard();
        if (this.#pending.delete(reject)) reject(asError(error));
      },
    );
  }

  #settled<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.#wait(promise, resolve, reject));
  }
}
