/**
 * The beats of a session, and the watch over its connections: a connection may look connected and carry nothing.
 *
 *     stopped --- later: the session is open ---> a timer runs --- it fires ---> the session beats
 *        ^                                             ^                              |
 *        +--- stop: the session is lost or forgotten   +------------------------------+
 *
 * A session beats as long as it is open, also if nobody holds or waits: an idle process watches too, so it finds who
 * died before anybody asks it. It sends `B` on the connection for commands. With the first beat it also pings the
 * connection for messages. The answers to both are owed. The session goes on beating while it waits for them, but then
 * it sends no ping, and the answers to the further beats are not counted. At each beat at which an answer has been owed
 * for longer than the session's patience, the driver probes the connections (drivers/answer-times.ts,
 * drivers/connections.ts). Then the session also sends no further beats: they would only keep a server busy that cannot
 * follow. When the answer comes, the lease counts from its beat, and the session beats at once. Once both answers have
 * come, the next beat counts as the first again.
 *
 * Invariant: an answer counts only in the era in which its beat was sent. `stop` is called with each new era, and then
 * nothing is owed.
 */

import { SilentError } from '../drivers/link.js';
import type { Timer } from '../runtime/clock.js';
import { eventsHandled } from '../runtime/ticks.js';
import * as wire from '../script/wire.js';
import type { Surroundings } from './surroundings.js';

/**
 * The longest times between two beats, in parts of a lease. An outage that begins just before a beat has this time less
 * until the lease is lost (lease.ts). An idle process has nothing to lose, so it beats less often. A process finds a
 * dead one after at most 0.9 of a lease and twice this time (1.1 or 1.25), as script/sessions.lua says. The least time
 * is four fifths of the longest, so that not all processes beat at once.
 */
const EVERY = { busy: 0.1, idle: 0.175 };

/** A server that has answered after a long silence gets the next beat within this part of a lease. */
const SOON = 0.02;

/** What the beats need of the session. */
export interface Beating {
  readonly around: Surroundings;
  /** The prefix of the channels of the partition. */
  readonly channel: string;
  readonly isOpen: boolean;
  /** Changes with each loss. */
  readonly era: number;
  readonly requests: { readonly table: { readonly size: number; marks(): wire.Arguments } };
  readonly rates: { readonly mark: wire.Arguments };
  readonly lease: { readonly renewedAt: number };
  /** `Sign.told` of the last sign of life that this process has watched for long enough. */
  readonly seen: string;
  run(args: wire.Arguments): Promise<unknown[] | undefined>;
  /** Takes the reply to a beat that was sent at this time. */
  beaten(reply: readonly unknown[], sentAt: number): void;
  lost(): void;
}

export class Beats {
  readonly #session: Beating;
  #timer: Timer;
  /** Whether the next beat comes when that of an idle process comes. */
  #isSlow = false;
  /** When the first beat was sent whose answers are owed. */
  #owedSince = 0;
  /** The connections that have not answered since `#owedSince`. */
  readonly #owed = new Set<'commands' | 'messages'>();
  /** Whether the driver was asked to probe, because answers are owed. */
  #isDoubted = false;

  constructor(session: Beating) {
    this.#session = session;
  }

  /** Beats after so many milliseconds, and from then on as often as `EVERY` says. */
  later(ms?: number): void {
    const { clock, lease } = this.#session.around;
    this.#isSlow = ms === undefined && this.#session.requests.table.size === 0;
    const every = lease * (this.#isSlow ? EVERY.idle : EVERY.busy) * (0.8 + 0.2 * Math.random());
    clock.stop(this.#timer);
    this.#timer = clock.after(ms ?? every, () => this.#beat(), false);
  }

  /** The process is not idle any more. If the last beat is not younger than that of a busy process, beats at once. */
  hasten(): void {
    const session = this.#session;
    if (!this.#isSlow || !session.isOpen) return;
    const { clock, lease } = session.around;
    this.later(Math.max(0, session.lease.renewedAt + EVERY.busy * lease - clock.now()));
  }

  stop(): void {
    this.#session.around.clock.stop(this.#timer);
    this.#owed.clear();
    this.#isDoubted = false;
    this.#isSlow = false;
  }

  async #beat(): Promise<void> {
    const session = this.#session;
    // An answer that came while the process was busy is read first.
    if (this.#owed.size > 0) await eventsHandled();
    if (!session.isOpen) return;
    const { clock, driver, answers, note, lease } = session.around;
    const sentAt = clock.now();
    this.later();
    if (this.#owed.size > 0 && sentAt - this.#owedSince > answers.patience) {
      const silent = new SilentError();
      note(silent);
      this.#isDoubted = true;
      driver.probe(session.channel, silent);
      if (this.#owed.has('commands')) return;
    }
    const { era } = session;
    // The driver may have lost its connections at once.
    if (!session.isOpen) return;
    const isFirst = this.#owed.size === 0;
    const answered = (which: 'commands' | 'messages'): void => {
      if (!isFirst || era !== session.era) return;
      this.#owed.delete(which);
      if (!this.#isDoubted) return;
      if (which === 'commands') this.later(lease * SOON * Math.random());
      if (this.#owed.size > 0) return;
      this.#isDoubted = false;
      note();
    };
    if (isFirst) {
      this.#owedSince = sentAt;
      this.#owed.add('commands');
      if (driver.ping) this.#owed.add('messages');
      // A refusal is an answer too.
      const heard = (): void => answered('messages');
      driver.ping?.(session.channel).then(heard, heard);
    }
    session.run([...wire.beat(session.seen), ...session.requests.table.marks(), ...session.rates.mark]).then(
      (reply) => {
        if (!reply) return;
        answers.answered(sentAt);
        answered('commands');
        session.beaten(reply, sentAt);
      },
      () => {
        if (era === session.era) session.lost();
      },
    );
  }
}
