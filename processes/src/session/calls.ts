/**
 * The operations of a session, from the moment that somebody asks for them until they are answered.
 *
 *     send --> #batch --> flush: one call of the script --> the reply: `answered` of each operation, then news
 *                ^                                      --> a refusal: `failed` of the operations
 *                +------- #again: an operation that repeats <-- a loss: nobody knows whether the call has arrived
 *
 * All operations of one iteration of the event loop go in one call, in the order in which they were asked for. After a
 * loss, the answer to `list` (script/wire.ts) tells what has become of each request. So operations that belong to a
 * request are not sent again. Operations that belong to no request are sent again, unless their sender has said
 * otherwise (`repeats`).
 */

import { eventsHandled, later, soon } from '../runtime/ticks.js';
import * as wire from '../script/wire.js';
import type { Operation, Saying, Sender } from './operation.js';
import type { Request } from './request.js';
import { refusal } from './server-error.js';

/** The most arguments of the operations in one call, so that no call takes the server long. */
const MOST_ARGUMENTS = 320;

/** What the calls need of the session. */
export interface Runner extends Omit<Sender, 'calls' | 'beats'> {
  /** Changes with each loss. */
  readonly era: number;
  readonly requests: { hear(news: string): void; lost(): void };
  readonly lease: {
    /** Until when the process must watch silent sessions before the server opens its session. */
    readonly watchesUntil: number;
  };
  readonly beats: {
    /** Beats after so many milliseconds. */
    later(ms: number): void;
  };
  /**
   * Calls the script. Resolves to undefined if the session was lost meanwhile, or if the reply says that it is lost.
   */
  run(args: wire.Arguments): Promise<unknown[] | undefined>;
  /** Is called when the operations under way may or may not arrive. */
  lost(): void;
}

export class Calls {
  readonly #session: Runner;
  /** The operations that are not sent yet. */
  #batch: Operation[] = [];
  /** How many promises that belong to no request keep the process alive. */
  operating = 0;
  /** When the next `flush` comes, if one is scheduled. */
  #scheduled: typeof soon | undefined;

  constructor(session: Runner) {
    this.#session = session;
  }

  /** Whether somebody waits for an answer that belongs to no request. */
  get areNeeded(): boolean {
    return this.#batch.length > 0 || this.operating > 0;
  }

  /**
   * Sends an operation that belongs to no request, and resolves to its answer. After a loss the operation is sent
   * again. Rejects when no answer has come for `connectTimeout`.
   */
  operate(args: Saying): Promise<unknown> {
    const session = this.#session;
    if (session.fatal) return Promise.reject(session.fatal);
    let operation: Operation | undefined;
    const answer = new Promise((resolve, reject) => {
      operation = this.send(args, resolve, reject);
    });
    const attended = this.attend(answer, () => {
      if (operation) operation.withdrawn = true;
      this.#schedule(later);
    });
    if (!session.isOpen) session.enter();
    return attended;
  }

  /**
   * Keeps the process alive until an answer that belongs to no request has come. Rejects when none has come for
   * `connectTimeout`; `late` is called before.
   */
  attend<T>(answer: Promise<T>, late?: () => void): Promise<T> {
    const { around } = this.#session;
    this.operating++;
    around.keepAlive();
    let stop: (() => void) | undefined;
    return new Promise<T>((resolve, reject) => {
      answer.then(resolve, reject);
      stop = this.unanswered((error) => {
        late?.();
        reject(error);
      });
    }).finally(() => {
      stop?.();
      this.operating--;
      around.keepAlive();
    });
  }

  /**
   * Calls `late` when no answer has come for `connectTimeout`. An answer may have come while the process was busy, so
   * all that has come is read before `late` is called. If the server then makes this process watch silent sessions, the
   * time begins once more when the watch ends. This happens once, so `late` is called in any case. Returns a function
   * that stops this.
   */
  unanswered(late: (error: Error) => void): () => void {
    const session = this.#session;
    const { clock, connectTimeout, unanswered } = session.around;
    const since = clock.now();
    let isLonger = false;
    const look = (): void => {
      // The server has answered, but this process must watch before its session is opened.
      const watch = session.sid === '' ? session.lease.watchesUntil - clock.now() : 0;
      if (watch > 0 && !isLonger) {
        isLonger = true;
        timer = clock.after(watch + connectTimeout, look, false);
      } else void eventsHandled().then(() => late(unanswered(since)));
    };
    let timer = clock.after(connectTimeout, look, true);
    return () => clock.stop(timer);
  }

  /** Puts an operation into the batch, which is sent soon, if the session is open. */
  send(
    args: Saying,
    answered: (answer: unknown) => void,
    failed?: (error: unknown) => void,
    request?: Request,
    repeats = request === undefined,
  ): Operation {
    const operation = { args, answered, failed, request, repeats, withdrawn: false };
    this.#batch.push(operation);
    // Many time-outs may expire at once. Their cancellations (C) wait for each other, so that they go in one call.
    const cancels = typeof args !== 'function' && args[0] === 'C';
    if (this.#session.isOpen) this.#schedule(cancels ? later : soon);
    return operation;
  }

  #schedule(when = soon): void {
    if (this.#scheduled === soon || this.#scheduled === when) return;
    this.#scheduled = when;
    when(() => {
      this.#scheduled = undefined;
      this.flush();
    });
  }

  /** Sends the batch, if the session is open. Otherwise drops only what is not to be sent any more. */
  flush(): void {
    if (!this.#session.isOpen) {
      this.#batch = this.#batch.filter((operation) => !operation.withdrawn);
      this.#session.around.keepAlive();
    }
    while (this.#session.isOpen && this.#batch.length > 0) {
      const operations: Operation[] = [];
      const args: string[] = [];
      let count = 0;
      for (let last: string | undefined; count < this.#batch.length; count++) {
        const operation = this.#batch[count] as Operation;
        if (operation.withdrawn) continue;
        const more = typeof operation.args === 'function' ? operation.args() : operation.args;
        // The operation that opens an ephemeral object (N) stays in one call with the request that follows: after the
        // call, the server forgets an idle ephemeral object.
        if (last !== undefined && last !== 'N' && args.length + more.length > MOST_ARGUMENTS) break;
        for (const each of more) args.push(each);
        operations.push(operation);
        last = more[0];
      }
      this.#batch.splice(0, count);
      if (operations.length > 0) this.#call(operations, args);
    }
  }

  #call(operations: Operation[], args: wire.Arguments): void {
    const session = this.#session;
    const { era } = session;
    for (const { request } of operations) if (request) request.unsent = undefined;
    session.run(args).then(
      (reply) => {
        if (!reply) return this.#again(operations);
        for (let i = 0; i < operations.length; i++) (operations[i] as Operation).answered(reply[i]);
        for (const entry of reply.slice(operations.length)) {
          // The server has not made all grants that are due. It makes more with the next beat.
          if (entry === wire.LEFT) session.beats.later(0);
          else session.requests.hear(String(entry));
        }
      },
      (error) => {
        const refused = refusal(error);
        const kept = operations.filter(({ failed }) => !failed);
        if (refused?.code === 'OOM' && era === session.era && kept.length < operations.length) {
          // Memory is full, and the server has refused the first write of the call. So the server has done nothing of
          // the call, and the session goes on. Operations without `failed`, whose error nobody would hear, are sent
          // again.
          session.requests.lost();
          for (const { failed } of operations) failed?.(refused);
          this.#batch.unshift(...kept);
          return this.#schedule();
        }
        if (!refused) this.#again(operations);
        else if (operations.some(({ failed }) => failed)) for (const { failed } of operations) failed?.(refused);
        else session.around.emit('error', refused);
        if (era === session.era) session.lost();
      },
    );
  }

  /** Sends those operations again that repeat. If the session has ended for good, all of them fail. */
  #again(operations: Operation[]): void {
    const { fatal, isOpen } = this.#session;
    if (fatal) {
      for (const { failed } of operations) failed?.(fatal);
      return;
    }
    this.#batch.unshift(...operations.filter(({ repeats, withdrawn }) => repeats && !withdrawn));
    if (isOpen) this.#schedule();
    else if (this.#batch.length > 0) this.#session.enter();
  }

  /** Drops the operations that the next `list` settles. The others stay in the batch, and are sent after the `list`. */
  lost(): void {
    this.#batch = this.#batch.filter(({ repeats }) => repeats);
  }

  /** Calls `first`, and puts the operations that it asks for before all others in the batch. */
  sendFirst(first: () => void): void {
    const others = this.#batch.splice(0);
    first();
    this.#batch = this.#batch.concat(others);
  }

  /** Fails the operations of the batch. `others` is called before their callers hear of the error. */
  fail(error: Error, others: () => void): void {
    const operations = this.#batch.splice(0);
    others();
    for (const { failed } of operations) failed?.(error);
  }
}
