/**
 * The attempts to enter a session, one after the other, until the session is open or has ended.
 *
 *     wait until connected --> enterOnce --> entered
 *        ^                      |     ^ |
 *        |                      |     +-+ an answer does not come: the driver probes its connections
 *        +--- pause <-- failed -+
 *
 * An attempt fails only if a connection is lost or the server refuses. It does not fail because the server is slow:
 * then it keeps what it has, and the answer comes in the end. If a connection is dead, the probe finds this, and the
 * connection is lost.
 *
 * The pauses grow exponentially with each attempt, up to a limit (exponential backoff). The length of each pause is
 * partly random (jitter), so that not all processes try again at once. So are the times at which the driver probes. If
 * the server makes this process watch, a pause may be longer: it lasts until the process has watched for long enough.
 */

import { asError, SilentError } from '../drivers/link.js';
import { SpaceError } from '../errors.js';
import type { Timer } from '../runtime/clock.js';
import { eventsHandled } from '../runtime/ticks.js';
import { refusal } from './server-error.js';
import type { Surroundings } from './surroundings.js';

/** What the attempts need of the session. */
export interface Entering {
  readonly around: Surroundings;
  /** The prefix of the channels of the partition. */
  readonly channel: string;
  readonly isNeeded: boolean;
  /** Whether a further attempt is to be made. */
  readonly isEntering: boolean;
  /** Changes with each loss. */
  readonly era: number;
  /**
   * Tries once to enter. Resolves to a true value if the pauses between attempts may begin again with the shortest one.
   * answered: is called with each answer on the way, and with the time at which the question was sent.
   */
  enterOnce(answered: (sentAt: number) => void): Promise<unknown>;
  /** When this process has watched for long enough, in case the server makes it watch; `Infinity` if it need not. */
  readonly watchedAt: number;
  /** Is called when the server refuses this process. */
  refuse(error: SpaceError | undefined): void;
}

/** An answer is expected within so many times of what an answer usually takes. */
const EXPECTED = 2;

export async function tryToEnter(session: Entering): Promise<void> {
  const { around } = session;
  const { clock, driver, answers } = around;
  for (let attempt = 0; session.isEntering; attempt++) {
    await around.whenConnected().catch(() => {});
    if (!session.isEntering) return;
    const { era } = session;
    // A connection that was idle may look connected and carry nothing.
    let timer: Timer;
    let isDoubted = false;
    const wait = (): void => {
      clock.stop(timer);
      const most = answers.patience * (1 + Math.random() / 4);
      const latest = clock.after(most, () => void eventsHandled().then(look), false);
      // An answer that came while the process was busy is read first. It stops this timer, or starts another one.
      const look = (): void => {
        if (timer !== latest) return;
        isDoubted = true;
        const silent = new SilentError();
        around.note(silent);
        driver.probe(session.channel, silent);
        wait();
      };
      timer = latest;
    };
    const answered = (sentAt: number): void => {
      answers.answered(sentAt);
      if (isDoubted) around.note();
      isDoubted = false;
      wait();
    };
    wait();
    try {
      if (await session.enterOnce(answered)) attempt = 0;
    } catch (error) {
      around.note(asError(error));
      session.refuse(error instanceof SpaceError ? error : refusal(error));
    } finally {
      clock.stop(timer);
      timer = undefined;
    }
    if (!session.isEntering || era !== session.era) continue;
    const pause = Math.min(driver.longestPause ?? answers.pause, 10 * 2 ** attempt) * (0.5 + Math.random() / 2);
    // What the process has watched counts only for a short time (lease.ts). An attempt that is still under way when this
    // time begins may be answered when it is over, and so may each later attempt, for ever. So the process makes a
    // further attempt only if the answer should come before. Otherwise it waits, and asks when its watch counts.
    const now = clock.now();
    const isNear = session.watchedAt - now <= pause + EXPECTED * answers.usual;
    const next = isNear ? session.watchedAt : now + pause;
    // A timer of Node may fire too early. The steps are short, so that a loss or the end is noticed.
    for (let left = next - now; left > 0 && session.isEntering && era === session.era; left = next - clock.now()) {
      const step = Math.max(1, Math.min(left, answers.pause));
      await new Promise<void>((resolve) => clock.after(step, resolve, session.isNeeded));
    }
  }
}
