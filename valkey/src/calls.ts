/**
 * The operations of a session, from when somebody asks for them until they are answered. All that one turn of the event
 * loop asks for goes in one call of the script. After a loss, what no `list` settles is sent again.
 */
import type { Timer } from './clock.js';
import type { Operation, Sender } from './operation.js';
import type { Request } from './request.js';
import { refusal } from './server-error.js';
import { eventsHandled, later, soon } from './ticks.js';
import * as wire from './wire.js';

/** Arguments of the operations in one call, so that no call takes the server long. */
const MOST_ARGUMENTS = 320;

/** The session, as its calls need it. */
export interface Runner extends Omit<Sender, 'send' | 'operate'> {
  /** Changes with each loss. */
  readonly era: number;
  readonly requests: { hear(news: string): void; lost(): void };
  /** Until when it must watch before it has a session. */
  readonly watchesUntil: number;
  /** Calls the script. Resolves to nothing if the session was lost meanwhile, or is lost as the reply says. */
  run(args: wire.Arguments): Promise<unknown[] | undefined>;
  /** What is under way may or may not arrive. */
  lost(): void;
  /** Grants are left, with which a beat goes on. */
  beatSoon(): void;
}

export class Calls {
  readonly #session: Runner;
  /** Those that are not sent. */
  #batch: Operation[] = [];
  /** How many promises keep the process alive that belong to no request. */
  operating = 0;
  #scheduled: typeof soon | undefined;

  constructor(session: Runner) {
    this.#session = session;
  }

  /** Whether somebody waits for an answer that belongs to no request. */
  get areNeeded(): boolean {
    return this.#batch.length > 0 || this.operating > 0;
  }

  /**
   * Sends an operation that belongs to no request, and resolves to its answer. After a loss it is sent again, until the
   * time is over that a server may take.
   */
  operate(args: wire.Arguments): Promise<unknown> {
    const session = this.#session;
    const { around, fatal } = session;
    if (fatal) return Promise.reject(fatal);
    this.operating++;
    around.keepAlive();
    let patience: Timer;
    return new Promise((resolve, reject) => {
      const operation = this.send(args, resolve, reject);
      patience = this.unanswered((error) => {
        operation.withdrawn = true;
        this.#batch = this.#batch.filter((each) => each !== operation);
        reject(error);
      });
      if (!session.isOpen) session.enter();
    }).finally(() => {
      around.clock.stop(patience);
      this.operating--;
      around.keepAlive();
    });
  }

  /** Calls `late` when no answer has come for `connectTimeout`. What has come while the process was busy counts. */
  unanswered(late: (error: Error) => void): Timer {
    const session = this.#session;
    const { clock, connectTimeout, unanswered } = session.around;
    const look = (): void => {
      // The answer was that it must watch.
      if (session.sid === '' && clock.now() < session.watchesUntil) clock.after(connectTimeout, look, false);
      else void eventsHandled().then(() => late(unanswered()));
    };
    return clock.after(connectTimeout, look, true);
  }

  send(
    args: wire.Arguments,
    answered: (answer: unknown) => void,
    failed?: (error: unknown) => void,
    request?: Request,
    repeats = request === undefined,
  ): Operation {
    const operation = { args, answered, failed, request, repeats, withdrawn: false };
    this.#batch.push(operation);
    // Time-outs that expire at once go in one call.
    if (this.#session.isOpen) this.#schedule(args[0] === 'C' ? later : soon);
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

  /** Sends all, if the session is open. */
  flush(): void {
    while (this.#session.isOpen && this.#batch.length > 0) {
      let [count, left] = [0, MOST_ARGUMENTS];
      for (const { args } of this.#batch) {
        left -= args.length;
        // The opening of an ephemeral object goes in one call with the request: the server forgets what is idle after a call.
        if (left < 0 && count > 0 && this.#batch[count - 1]?.args[0] !== 'N') break;
        count++;
      }
      const operations = this.#batch.splice(0, count).filter((operation) => !operation.withdrawn);
      if (operations.length > 0) this.#call(operations);
    }
  }

  #call(operations: Operation[]): void {
    const session = this.#session;
    const { era } = session;
    const args: string[] = [];
    for (const { args: more, request } of operations) {
      for (const each of more) args.push(each);
      if (request) request.unsent = undefined;
    }
    session.run(args).then(
      (reply) => {
        if (!reply) return this.#again(operations);
        for (let i = 0; i < operations.length; i++) (operations[i] as Operation).answered(reply[i]);
        for (const entry of reply.slice(operations.length)) {
          if (entry === wire.LEFT) session.beatSoon();
          else session.requests.hear(String(entry));
        }
      },
      (error) => {
        const refused = refusal(error);
        const kept = operations.filter(({ failed }) => !failed);
        if (refused?.code === 'OOM' && era === session.era && kept.length < operations.length) {
          // The first write was refused, so nothing of the call was done, and the session is what it was.
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

  /** Operations that no `list` settles are sent again. */
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

  /** What is not sent is sent after the next `list`, unless that settles it. */
  lost(): void {
    this.#batch = this.#batch.filter(({ repeats }) => repeats);
  }

  /** Sends those of `first`, and what they ask for, before all others. */
  sendFirst(first: () => void): void {
    const others = this.#batch.splice(0);
    first();
    this.#batch.push(...others);
  }

  /** Nothing is sent any more. `others` hears of it before the callers. */
  fail(error: Error, others: () => void): void {
    const operations = this.#batch.splice(0);
    others();
    for (const { failed } of operations) failed?.(error);
  }
}
