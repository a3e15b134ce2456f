/**
 * The beats of a session, and the watch over its connections: a connection may look connected and carry nothing.
 *
 *     stopped --- later: the session is open ---> a timer runs --- it fires ---> the session beats
 *        ^                                             ^                              |
 *        +--- stop: the session is lost or forgotten   +------------------------------+
 *
 * A session beats as long as it is open, also if nobody holds or waits: an idle process watches too, so it finds who
 * died before anybody asks it. Four times a lease the session sends `B` on the connection for commands. With the first beat it also pings the
 * connection for messages. The answers to both are owed. The session goes on beating while it waits for them, but then
 * it sends no ping, and the answers to the further beats are not counted. If an answer is still owed at a beat that
 * comes more than a sixth of a lease after `#owedSince`, the connections are reset. Once both answers have come, the
 * next beat counts as the first again.
 *
 * Invariant: an answer counts only in the era in which its beat was sent. `stop` is called with each new era, and then
 * nothing is owed.
 */
import type { Timer } from './clock.js';
import type { Surroundings } from './surroundings.js';
import { eventsHandled } from './ticks.js';
import * as wire from './wire.js';

export const SILENT = new Error('the server does not answer');

/** What the beats need of the session. */
export interface Beating {
  readonly around: Surroundings;
  /** The prefix of the channels of the partition. */
  readonly channel: string;
  readonly isOpen: boolean;
  /** Changes with each loss. */
  readonly era: number;
  readonly requests: { readonly table: { marks(): wire.Arguments } };
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
  /** When the first beat was sent whose answers are owed. */
  #owedSince = 0;
  /** How many connections have not answered since `#owedSince`. */
  #owed = 0;

  constructor(session: Beating) {
    this.#session = session;
  }

  /** Beats after so many milliseconds, and from then on four times a lease. */
  later(ms = (this.#session.around.lease / 4) * (0.8 + 0.2 * Math.random())): void {
    const { clock } = this.#session.around;
    clock.stop(this.#timer);
    this.#timer = clock.after(ms, () => this.#beat(), false);
  }

  stop(): void {
    this.#session.around.clock.stop(this.#timer);
    this.#owed = 0;
  }

  async #beat(): Promise<void> {
    const session = this.#session;
    // An answer that came while the process was busy is read first.
    if (this.#owed > 0) await eventsHandled();
    if (!session.isOpen) return;
    const { clock, lease, driver } = session.around;
    const sentAt = clock.now();
    this.later();
    // The limit is at least 250 ms: with a short lease, answers may come so late only because the machine is busy.
    if (this.#owed > 0 && sentAt - this.#owedSince > Math.max(250, lease / 6)) return driver.reset(SILENT);
    const { era } = session;
    const isFirst = this.#owed === 0;
    const answered = (): void => {
      if (isFirst && era === session.era) this.#owed--;
    };
    if (isFirst) {
      this.#owedSince = sentAt;
      this.#owed = driver.ping ? 2 : 1;
      // A refusal is an answer too.
      driver.ping?.(session.channel).then(answered, answered);
    }
    session.run([...wire.beat(session.seen), ...session.requests.table.marks()]).then(
      (reply) => {
        if (!reply) return;
        answered();
        session.beaten(reply, sentAt);
      },
      () => {
        if (era === session.era) session.lost();
      },
    );
  }
}
