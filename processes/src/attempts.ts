/**
 * The attempts to enter a session, one after the other, until the session is open or has ended.
 *
 *     wait until connected --> enterOnce --> entered
 *        ^                      |     |
 *        |                      |     +--- no answer within `most`: the connections are reset, and `enterOnce` fails
 *        +--- pause <-- failed -+
 *
 * The pauses and `most` grow exponentially with each attempt, up to a limit (exponential backoff), because the server
 * may only be slow. The length of each pause is partly random (jitter), so that not all processes try again at once.
 */
import { SILENT } from './beats.js';
import type { Timer } from './clock.js';
import { asError } from './drivers/link.js';
import { SpaceError } from './errors.js';
import { refusal } from './server-error.js';
import type { Surroundings } from './surroundings.js';
import { eventsHandled } from './ticks.js';

/** What the attempts need of the session. */
export interface Entering {
  readonly around: Surroundings;
  readonly isNeeded: boolean;
  /** Whether a further attempt is to be made. */
  readonly isEntering: boolean;
  /** Changes with each loss. */
  readonly era: number;
  /**
   * Tries once to enter. Resolves to a true value if the pauses between attempts may begin again with the shortest one.
   * patience: starts the time anew within which the server must answer.
   */
  enterOnce(patience: () => void): Promise<unknown>;
  /** When this process has watched for long enough, in case the server makes it watch; `Infinity` if it need not. */
  readonly watchedAt: number;
  /** Is called when the server refuses this process. */
  refuse(error: SpaceError | undefined): void;
}

export async function tryToEnter(session: Entering): Promise<void> {
  const { around } = session;
  const { clock, driver, lease } = around;
  for (let attempt = 0; session.isEntering; attempt++) {
    await around.whenConnected().catch(() => {});
    if (!session.isEntering) return;
    const { era } = session;
    // A connection that was idle may look connected and carry nothing.
    const most = Math.min(lease / 2, Math.max(250, lease / 8) * 2 ** attempt);
    let timer: Timer;
    const patience = (): void => {
      clock.stop(timer);
      const latest = clock.after(most, () => void eventsHandled().then(look), false);
      // An answer that came while the process was busy is read first. It stops this timer, or starts another one.
      const look = (): void => {
        if (timer === latest) driver.reset(SILENT);
      };
      timer = latest;
    };
    patience();
    try {
      if (await session.enterOnce(patience)) attempt = 0;
    } catch (error) {
      around.note(asError(error));
      session.refuse(error instanceof SpaceError ? error : refusal(error));
    } finally {
      clock.stop(timer);
      timer = undefined;
    }
    if (!session.isEntering || era !== session.era) continue;
    const pause = Math.min(driver.longestPause ?? 1000, 10 * 2 ** attempt) * (0.5 + Math.random() / 2);
    // What the process has watched counts only for a short time (lease.ts), so the next attempt must not miss it.
    const watch = Math.max(1, session.watchedAt - clock.now());
    await new Promise<void>((resolve) => clock.after(Math.min(pause, watch), resolve, session.isNeeded));
  }
}
