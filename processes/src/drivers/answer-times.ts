/**
 * How long the server takes to answer, as this process measures it, and how long the process waits before it doubts a
 * connection.
 *
 * The longer the server usually takes, the longer the process waits. So a slow network costs time, and no connections.
 * A doubt that is wrong does no harm: the driver only opens another connection, and keeps the ones that answer
 * (connections.ts).
 */
import { type Clock, clock as realClock } from '../runtime/clock.js';

/**
 * The longest round trip that a lease bears, in parts of the lease: to enter a session and to beat, one after the
 * other, must take less than the process may hold without an answer (session/lease.ts). The docs promise a third. What
 * is measured may be larger than the usual round trip, and the advice must not come where the promise holds.
 */
const BEARABLE = 0.4;

/**
 * How many round trips `connect` takes, one after the other, and some more: to open a connection, to greet, to ask for
 * INFO, to subscribe, to run the script, to send its text, and to make the call itself. These are about eight; the
 * advice must suffice also if some of them take longer.
 */
const JOINING = 12;

/** The least time to wait for an answer, in milliseconds: a busy machine may need so long itself. */
const LEAST = 250;

const roundUp = (ms: number, to: number): number => Math.ceil(ms / to) * to;

export class AnswerTimes {
  readonly lease: number;
  readonly #clock: Clock;
  #usual: number | undefined;
  /** A guess of `usual`, as long as no answer was measured. */
  #guess = 0;
  #lastAt = -Infinity;

  constructor(lease: number, clock: Clock = realClock) {
    this.lease = lease;
    this.#clock = clock;
  }

  /** How long an answer usually takes, in milliseconds: a mean in which a new answer counts for a quarter. */
  get usual(): number {
    return this.#usual ?? this.#guess;
  }

  /** Notes that the server has greeted a connection that was made at this time, which takes so many round trips. */
  greeted(since: number, trips = 2): void {
    this.#lastAt = this.#clock.now();
    this.#guess = (this.#lastAt - since) / trips;
  }

  /** Notes the answer to what was sent at this time. */
  answered(sentAt: number): void {
    this.#lastAt = this.#clock.now();
    const ms = this.#lastAt - sentAt;
    this.#usual = this.#usual === undefined ? ms : this.#usual + (ms - this.#usual) / 4;
  }

  /**
   * What to change if a call that was made at the time `since` got no answer within `connectTimeout` because the server
   * is far away; undefined if that is not the cause.
   */
  advice(since: number, connectTimeout: number): string | undefined {
    const { usual, lease } = this;
    const isHeard = this.#lastAt >= since;
    const took = `an answer takes about ${Math.round(usual)} ms`;
    if (isHeard && usual > BEARABLE * lease) {
      const enough = roundUp(3 * usual, 100);
      return `the server answers, but ${took}, which is too long for a lease of ${lease} ms; give a lease of ${enough} ms`;
    }
    if (!isHeard || JOINING * usual < connectTimeout) return undefined;
    const enough = roundUp(JOINING * usual, 1000);
    return `${took}, and several are needed; give a connectTimeout of ${enough} ms or more`;
  }

  /** How long an open connection may be silent before this process doubts it, in milliseconds. */
  get patience(): number {
    return Math.max(LEAST, this.lease / 8, 2 * this.usual);
  }

  /** How long each step of opening a connection may take, in milliseconds. */
  get opening(): number {
    return Math.max(LEAST, this.lease / 16, 2 * this.usual);
  }

  /** The longest pause between two attempts, in milliseconds. */
  get pause(): number {
    return Math.min(1000, this.lease / 32);
  }
}
