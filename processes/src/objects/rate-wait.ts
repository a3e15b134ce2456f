/**
 * A request for permits of a rate. It is told its date in the answer to its one call, waits here until then, and begins:
 *
 *     T --> date --> sleep --> begins at most `slack` after the date
 *        |             |  \--> the answer took longer, or the process was busy: C gives the date back, and T asks again
 *        |             |--> a pause has moved the date: sleeps on
 *        |             \--> signal, time-out, `cancelAll`: C gives the date back
 *        |--> the server waits after a loss for those who know what was lost: sleeps, and asks again
 *        \--> the date is later than the time-out allows: rejects at once
 *
 * A process knows the partition's time by the answer that tells most (`Told`): when it sent that question the date was at
 * least as far away as it seems, and when it got the answer at most. So it waits by the latter, and measures by the
 * former how late it is: a begin is never later than it seems. If no answer comes in time, again and again, then the
 * process asks for a longer slack, which all processes get. What takes long may be the process itself: it cannot tell.
 * When answers come soon again, it asks for a shorter one, and the server goes back after a while in which nobody needs
 * the longer one.
 *
 * The server frees a date that lies far ahead when the session of this process ends. So when this process has lost its
 * session, or has not renewed its lease, the request gives up such a date, and asks again.
 */
import { checkRate, type RateOptions } from '../../../src/common/rate.js';
import { CancelledError, checkInteger, checkOptions, timedOut } from '../errors.js';
import type * as wire from '../script/wire.js';
import type { Answered, Rate } from '../session/rates.js';
import { whenAborted } from './abort.js';
import { aborted, checkWait, type WaitOptions } from './acquire.js';

/** The options of a rate of a space. */
export interface RateLimiterOptions extends RateOptions {
  /**
   * How many milliseconds later than its date a call may begin, 1 to 60,000. The window is longer by as much for the
   * server. Default: a twentieth of `per`, 20 to 1,000. Choose more than a round trip takes.
   */
  readonly slack?: number;
}

/** For how long a request whose time-out has passed waits for the answer of the server, in milliseconds. */
const GRACE = 1000;
/** After so many dates of one request that had passed when the answer came, the slack is too short. */
const MOST_LATE = 3;
/** The longest slack, in milliseconds. */
const MOST_SLACK = 60_000;
/** Which part of the slack a begin may use. The rest is for jumps of the server's clock. */
const USED = 0.75;
export const US = 1000;
const LONGEST_TIMER = 2 ** 31 - 1;

/** Checks the numbers of a rate. */
export function rateNumbersOf(
  what: string,
  permits: number,
  per: number,
  options: RateLimiterOptions,
): wire.RateNumbers {
  checkOptions(what, options, ['burst', 'slack']);
  const { slack, burst } = options;
  const rate = checkRate(what, permits, per, burst === undefined ? {} : { burst });
  const most = Math.ceil(Math.min(1000, Math.max(20, rate.per / 20)));
  const chosen = slack === undefined ? most : checkInteger(`${what}: slack`, slack, 1, MOST_SLACK);
  return { permits: rate.permits, per: rate.per * US, burst: rate.burst, slack: chosen * US };
}

/** The error for a request of more permits than a window has. */
export const tooMany = ({ name }: Rate, most: number, permits: number): RangeError =>
  new RangeError(`${nameOf(name)} has ${most} permit${most > 1 ? 's' : ''} in a window, and ${permits} are asked for`);

/** A name for users: of a rate, or of rates and a key. */
export function nameOf(name: string): string {
  const [first = '', key] = name.split('\0');
  if (key === undefined) return JSON.stringify(first);
  return `${key[0] === 'i' ? key.slice(1) : JSON.stringify(key.slice(1))} of ${JSON.stringify(first)}`;
}

/** What a request wants. */
export interface Request<T> {
  /** The kind and the method, for errors. */
  readonly what: string;
  readonly permits: number;
  readonly options: WaitOptions | undefined;
  /** Is called when the permits may go. */
  begin(): T;
  /** Is called instead of the error of a time-out. */
  late?(): T;
}

/** How each call of `limit` of a rate takes its permits. */
export interface RateCallOptions extends WaitOptions {
  /** The number of permits that each call takes, 1 (the default) to `permits`. */
  readonly permits?: number;
}

/** Why `limit` has no `until: 'end'`. */
export const NO_END =
  'a server dates a call beforehand, and is not told when the call ends. To limit how many calls run at a time, put a ' +
  'Semaphore of the space outside: slots.limit(rate.limit(f))';

/** Waits until permits may go, and then calls `begin` in the step that has looked at the clock. */
export async function take<T>(rate: Rate, request: Request<T>): Promise<Awaited<T>> {
  if (request.late) return wait(rate, request);
  rate.waiting++;
  let waits = true;
  const over = (): void => {
    if (waits) rate.waiting--;
    waits = false;
  };
  try {
    const begin = (): T => {
      over();
      return request.begin();
    };
    return await wait(rate, { ...request, begin });
  } finally {
    over();
  }
}

async function wait<T>(rate: Rate, { what, permits, options = {}, begin, late }: Request<T>): Promise<Awaited<T>> {
  const { timeout, signal } = checkWait(what, options);
  if (signal?.aborted) throw aborted(signal);
  const { clock, session } = rate;
  const { around } = session;
  const stamp = around.stamp();
  const deadline = clock.now() + timeout;
  const measure = (event: 'wait' | 'begin' | 'late' | 'timeout', at?: number): void =>
    around.measureRate(event, rate.name, permits, stamp, at);
  const expired = (): Awaited<T> | T => {
    measure('timeout');
    if (late) return late();
    const wanted = `${permits} permit${permits > 1 ? 's' : ''} of ${nameOf(rate.name)}`;
    throw timedOut(`${wanted}${around.lastWords()}`, timeout);
  };
  let lateAnswers = 0;
  let shortest = Infinity;
  for (;;) {
    const left = deadline - clock.now();
    const most = left === Infinity ? -1 : Math.max(0, Math.floor(left * US));
    const asked = rate.ask(['T', permits, most]);
    const isAnswered = await until(rate, asked, timeout === 0 ? Infinity : left + GRACE, signal);
    if (!isAnswered) {
      // What the answer tells is not used.
      asked.then(
        ({ answer }) => giveBack(rate, answer, permits, session.sid),
        () => {},
      );
      if (signal?.aborted) throw aborted(signal);
      if (rate.end) throw rate.end;
      return await expired();
    }
    const { answer, sent, got } = await asked;
    if ('most' in answer) throw tooMany(rate, answer.most, permits);
    if (!answer.ok) {
      if (most >= 0 && answer.date - answer.moment > most) return await expired();
      await untilAgain(rate, rate.when(answer.date).most, signal);
      continue;
    }
    const { sid } = session;
    let { date } = answer;
    let shift = rate.shiftAt(answer);
    let isAgain = false;
    let waits = false;
    for (;;) {
      const now = clock.now();
      if (rate.isOutdated(answer)) {
        isAgain = true;
        break;
      }
      if (rate.shift > shift) {
        // A pause has moved the dates that lay ahead when it began, and no others.
        if (date <= rate.stopped) {
          isAgain = true;
          break;
        }
        date += rate.shift - shift;
        shift = rate.shift;
      }
      const at = rate.when(date).most;
      const isCancelled = rate.isCancelled(answer);
      const isOver = now < at && now >= deadline;
      if (isCancelled || signal?.aborted || rate.end || isOver) {
        giveBack(rate, answer, permits, sid);
        if (signal?.aborted) throw aborted(signal);
        if (rate.end) throw rate.end;
        if (isCancelled) throw new CancelledError();
        return await expired();
      }
      if (now < at) {
        if (!waits) measure('wait');
        waits = true;
        await until(rate, undefined, Math.min(at, deadline > now ? deadline : at) - now, signal);
      } else if (rate.looking) {
        // Somebody has perhaps paused the rate, or cancelled this request.
        await until(rate, rate.looking, LONGEST_TIMER, signal);
      } else break;
    }
    session.look();
    if (answer.isListed && (session.sid !== sid || !session.lease.isRunning)) {
      giveBack(rate, answer, permits, sid);
      isAgain = true;
    }
    const now = clock.now();
    if (!isAgain && now - rate.when(date).least <= (answer.slack / US) * USED) {
      let begun: T;
      try {
        begun = begin();
      } finally {
        // Listeners take their time, so they hear of the begin afterwards.
        measure('begin', now);
      }
      return await begun;
    }
    measure('late');
    if (!isAgain) giveBack(rate, answer, permits, sid);
    shortest = Math.min(shortest, (got - sent) * US);
    if (waits || isAgain) lateAnswers = 0;
    else if (++lateAnswers >= MOST_LATE && shortest > answer.slack / 2)
      rate.needs(Math.min(Math.ceil(2 * shortest), MOST_SLACK * US));
  }
}

/** Gives a date back that the session has got which was called `sid` then. If this is lost, the date passes unused. */
function giveBack(rate: Rate, answer: Answered['answer'], permits: number, sid: string): void {
  if ('most' in answer || !answer.ok || rate.end) return;
  // The end of a session frees the dates that it has listed.
  if (answer.isListed && rate.session.sid !== sid) return;
  const { isListed, date, moved, given, epoch } = answer;
  rate.tell([isListed ? 'D' : 'C', date - moved, permits, given, epoch]).catch(() => {});
}

/** Waits until a time, for a request without a date. */
async function untilAgain(rate: Rate, at: number, signal: AbortSignal | undefined): Promise<void> {
  const { clock, cancelled } = rate;
  for (let now = clock.now(); now < at; now = clock.now()) {
    await until(rate, undefined, at - now, signal);
    if (signal?.aborted) throw aborted(signal);
    if (rate.end) throw rate.end;
    if (rate.cancelled > cancelled) throw new CancelledError();
  }
}

/** Waits for an answer, for some milliseconds, or until something else is to be looked at. Resolves to which it was. */
function until(
  rate: Rate,
  asked: Promise<unknown> | undefined,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let unlisten: (() => void) | undefined;
    const { clock, sleepers } = rate;
    const stop = (): void => {
      unlisten?.();
      if (ms < Infinity) clock.stop(timer);
      sleepers.delete(wake);
    };
    const over = (): void => {
      stop();
      resolve(false);
    };
    const wake = (): void => {
      // A request without an answer wakes for an end and its signal only.
      if (!asked || rate.end || signal?.aborted) over();
    };
    const timer =
      ms < Infinity ? clock.after(Math.min(Math.max(1, Math.ceil(ms)), LONGEST_TIMER), over, true) : undefined;
    sleepers.add(wake);
    if (asked) {
      asked.then(
        () => {
          stop();
          resolve(true);
        },
        (error) => {
          stop();
          reject(error);
        },
      );
    } else rate.waits();
    if (signal) unlisten = whenAborted(signal, wake);
  });
}
