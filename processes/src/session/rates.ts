/**
 * What a session knows of rates: the time of the partition, and of each rate how much was given. After a loss the server
 * learns it again.
 *
 *     ask --> the answer tells the time, and what was given --> known
 *     a beat --> G tells the server the time, so that a jump of its clock is no time that has passed
 *            --> the answer tells that the server has noticed a loss ------+
 *     the session is entered again ----------------------------------------+--> each rate tells what it knows
 *     a message --> somebody has paused a rate, or cancelled its requests -----> who waits for the rate looks at it
 *
 * Messages may be lost, and the server tells at most 256 sessions of a pause. So a session also looks at the rates for
 * which it waits, a few of them in turn every second.
 */
import { callEach } from '../../../src/common/each.js';
import type { Clock, Timer } from '../runtime/clock.js';
import { fnv1a } from '../runtime/hash.js';
import * as wire from '../script/wire.js';
import type { Operation, Saying } from './operation.js';
import type { Surroundings } from './surroundings.js';

const US = 1000;
/** How often a session looks at rates for which it waits, in milliseconds, and at how many at a time. */
const POLL = 1000;
const MOST_LOOKS = 16;
/** After how long a process asks for a shorter slack, if all answers came soon, and how many there were at least. */
const QUIET = 60_000;
const LEAST_ANSWERS = 10;
/** About how many rates a session tells the server after a loss, those that it has used last. */
const MOST_TOLD = 1000;

/** What the rates need of the session. */
export interface RateSession {
  readonly around: Surroundings;
  readonly sid: string;
  readonly isOpen: boolean;
  readonly fatal: Error | undefined;
  readonly lease: { readonly isRunning: boolean };
  readonly calls: {
    operate(args: Saying): Promise<unknown>;
    attend<T>(work: Promise<T>, late?: () => void): Promise<T>;
    send(
      args: wire.Arguments,
      answered: (answer: unknown) => void,
      failed?: (error: unknown) => void,
      request?: undefined,
      repeats?: boolean,
    ): Operation;
  };
  look(): void;
}

/** An answer, and when the question was sent and the answer came. */
export interface Answered {
  readonly answer: wire.RateAnswer | { readonly most: number };
  readonly sent: number;
  readonly got: number;
}

/** The number by which the server names a rate in messages. Two names may have the same. */
const tagOf = (name: string): number => fnv1a(name);

/** What the process knows of one rate of a session. */
export class Rate {
  readonly session: RateSession;
  readonly #rates: Rates;
  readonly name: string;
  /** The numbers as far as this process knows. `slack`: what it asks for; the server takes the longest of all. */
  numbers: wire.RateNumbers;
  /** The slack of the server, and the longest that the program has chosen. In microseconds. */
  #slack = 0;
  #chosen: number;
  /** The answers of a while, when it began, and how long the slowest took. */
  #answers = 0;
  #since = 0;
  #slowest = 0;
  known: wire.RateKnown = { epoch: 0, given: 0, last: 0 };
  /** By how much pauses have moved dates, as the server counts it; and when the last began. */
  #moved = 0;
  stopped = 0;
  /** When the last pause ends that this process has made, by the time of the partition. */
  #pausedUntil = 0;
  /** Dates of earlier epochs than this one do not count, as nobody knows by how much pauses have moved them. */
  #countsFrom = 0;
  /** By how much pauses have moved dates since this process knows the rate. */
  shift = 0;
  /** Requests up to this number are cancelled. */
  cancelled = 0;
  /** Wakes those who wait. */
  readonly sleepers = new Set<() => void>();
  /** How many calls are under way. */
  asking = 0;
  /** How many requests of this process wait. Those that only ask whether they may go now do not count. */
  waiting = 0;
  /** Whether an object of the user keeps this. */
  isKept = false;
  /** Whether the rate had once other numbers than those with which it was opened. */
  isResized = false;
  #look: Promise<unknown> | undefined;
  #looksAgain = false;

  constructor(rates: Rates, name: string, numbers: wire.RateNumbers) {
    this.#rates = rates;
    this.session = rates.session;
    this.name = name;
    this.numbers = numbers;
    this.#chosen = numbers.slack;
    this.#since = this.clock.now();
  }

  /** The program opens the rate with this slack. */
  opens(slack: number): void {
    this.#chosen = Math.max(this.#chosen, slack);
    if (slack > this.numbers.slack) this.needs(slack);
  }

  /** This process asks for this slack from now on. */
  needs(slack: number): void {
    this.numbers = { ...this.numbers, slack };
    this.#since = this.clock.now();
    this.#answers = 0;
    this.#slowest = 0;
  }

  /**
   * An answer took so many milliseconds. If all answers of a while came soon, the process needs no such slack as when it
   * asked for it.
   */
  #took(ms: number): void {
    this.#slowest = Math.max(this.#slowest, ms);
    if (++this.#answers < LEAST_ANSWERS || this.clock.now() - this.#since < QUIET) return;
    this.needs(Math.max(this.#chosen, Math.min(this.numbers.slack, Math.ceil(2 * this.#slowest * US))));
  }

  /** When, by the clock of this process, a time of the partition comes. */
  when(moment: number): { readonly least: number; readonly most: number } {
    return this.#rates.told.when(moment);
  }

  get clock(): Clock {
    return this.session.around.clock;
  }

  /** Why nobody can wait any more. */
  get end(): Error | undefined {
    return this.#rates.end ?? this.session.fatal;
  }

  /** A look at the rate that is under way. Who is due waits for it. */
  get looking(): Promise<unknown> | undefined {
    return this.#look;
  }

  /** Asks the server. After a loss the question is sent again. */
  async ask(demand: wire.RateDemand, numbers = this.numbers): Promise<Answered> {
    if (this.end) throw this.end;
    this.#rates.keep(this);
    let sent = this.clock.now();
    this.asking++;
    let { known } = this;
    try {
      const answer = await this.session.calls.operate(() => {
        ({ known } = this);
        // After an outage the question is sent again. If the first time counted, a jump of the server's clock by as much
        // as the outage would count as time.
        sent = this.clock.now();
        return this.#args(demand, numbers, sent);
      });
      return this.#heard(wire.rateIn(answer, numbers, known), sent);
    } finally {
      this.asking--;
    }
  }

  /**
   * Tells the server something that it must not hear twice. Resolves to undefined if it was perhaps not heard, because
   * the session was lost.
   */
  async tell(demand: wire.RateDemand): Promise<Answered | undefined> {
    if (this.end) throw this.end;
    const sent = this.clock.now();
    const { numbers, known } = this;
    const answer = await this.#rates.once(this.#args(demand, numbers, sent));
    return answer === undefined ? undefined : this.#heard(wire.rateIn(answer, numbers, known), sent);
  }

  /**
   * `tell`, for a caller that waits for it: enters the session if it is not open, keeps the process alive, and rejects
   * when no answer comes.
   */
  async tellAwaited(demand: wire.RateDemand): Promise<void> {
    if (!this.session.isOpen) await this.ask(['I']);
    await this.session.calls.attend(this.tell(demand));
  }

  #args(demand: wire.RateDemand, numbers: wire.RateNumbers, sent: number): wire.Arguments {
    return wire.rate(this.name, numbers, this.known, this.#rates.told.ages(sent), demand);
  }

  /** Pauses the rate for so many microseconds. */
  async pause(wait: number): Promise<void> {
    const { answer } = await this.ask(['P', wait, tagOf(this.name)]);
    if (!('most' in answer)) this.#pausedUntil = Math.max(this.#pausedUntil, answer.moment + wait);
  }

  /** Tells the server what it may have lost. */
  tellAgain(): void {
    const left = Math.floor((this.when(this.#pausedUntil).least - this.clock.now()) * US);
    if (left > 0) this.ask(['P', left, tagOf(this.name)]).catch(() => {});
    this.look();
  }

  cancelAll(): Promise<Answered> {
    return this.ask(['L', 0, tagOf(this.name)]);
  }

  #heard(answer: Answered['answer'], sent: number): Answered {
    const got = this.clock.now();
    if (!('most' in answer)) {
      const { epoch, given, moved, permits, per, burst, slack } = answer;
      const { known } = this;
      this.#rates.told.hear(answer.moment, sent, got);
      this.numbers = { permits, per, burst, slack: this.numbers.slack };
      this.#slack = slack;
      this.#took(got - sent);
      if (answer.resized) this.isResized = true;
      const { last } = answer;
      if (epoch > known.epoch) {
        this.known = { epoch, given, last: Math.max(last, known.last) };
        this.#changesEpoch(answer);
      } else if (epoch === known.epoch) {
        const more = Math.max(0, moved - this.#moved);
        this.known = given < known.given ? { ...known, last: known.last + more } : { epoch, given, last };
        this.#moved += more;
        this.shift += more;
        this.stopped = Math.max(this.stopped, answer.stopped);
        const isCancelled = answer.cancelled > this.cancelled;
        this.cancelled = Math.max(this.cancelled, answer.cancelled);
        if (more > 0 || isCancelled) this.wake();
      }
    }
    return { answer, sent, got };
  }

  /**
   * A new epoch: the server has lost what it counted, and counts anew; or another process has told that something was lost
   * before, and the server counts on. If this process knows of no pause before, then the pauses that the server counts are
   * later than the dates that this process was told, in both cases. Otherwise nobody can tell the two cases apart, unless
   * there was no other pause.
   */
  #changesEpoch({ epoch, moved, stopped, cancelled }: wire.RateAnswer): void {
    const goesOn = moved === this.#moved && stopped === this.stopped;
    if (this.#moved === 0) this.shift += moved;
    else if (moved > 0 && !goesOn) this.#countsFrom = epoch;
    this.#moved = moved;
    this.stopped = stopped;
    // The numbers of requests grow over all epochs.
    this.cancelled = Math.max(this.cancelled, cancelled);
    this.wake();
  }

  /** `shift` at the time of an answer. Later answers may have come before. */
  shiftAt({ epoch, moved }: wire.RateAnswer): number {
    return epoch === this.known.epoch ? this.shift - (this.#moved - moved) : this.shift;
  }

  /** Whether the date of an answer does not count any more, so that its request must ask again. */
  isOutdated({ epoch }: wire.RateAnswer): boolean {
    return epoch < this.#countsFrom;
  }

  isCancelled({ given }: wire.RateAnswer): boolean {
    return given <= this.cancelled;
  }

  /** Somebody has begun to wait. */
  waits(): void {
    this.#rates.poll();
  }

  wake(): void {
    callEach([...this.sleepers]);
  }

  /** Looks at the rate; if a look is under way already, once more after it. */
  look(): void {
    if (this.#look) {
      this.#looksAgain = true;
      return;
    }
    const over = (): void => {
      this.#look = undefined;
      const again = this.#looksAgain;
      this.#looksAgain = false;
      if (again && !this.end) this.look();
      else this.wake();
    };
    this.#look = this.ask(['I']).then(over, over);
  }

  /** Whether the server has nothing to learn from this process, by the time of the partition. */
  isFresh(moment: number): boolean {
    return this.known.last + this.numbers.per + this.#slack <= moment && this.#pausedUntil <= moment;
  }
}

/** How much slower than the true time a clock may go. The script counts with as much. */
const SLOWEST = 0.999;

/**
 * The partition's time, as this process was told it by the answer that tells most. An answer that took long tells less
 * than an earlier one: were it to count, the partition's time would lose what the answer took, each time anew.
 */
class Told {
  #seen = 0;
  #sent = 0;
  #got = 0;

  ages(now: number): wire.ToldTime {
    if (this.#seen === 0) return { seen: 0, low: 0, high: 0 };
    const low = Math.max(0, Math.floor((now - this.#got) * US));
    return { seen: this.#seen, low, high: Math.max(low, Math.ceil((now - this.#sent) * US)) };
  }

  hear(moment: number, sent: number, got: number): void {
    if (moment < this.#seen + (got - this.#got) * US * SLOWEST) return;
    this.#seen = moment;
    this.#sent = sent;
    this.#got = got;
  }

  /** When, by the clock of this process, a time of the partition comes: not before `least`, and not after `most`. */
  when(moment: number): { readonly least: number; readonly most: number } {
    const ahead = (moment - this.#seen) / US;
    return { least: this.#sent + ahead, most: this.#got + ahead };
  }

  /** The time of the partition now, at least. */
  at(now: number): number {
    return this.#seen + Math.max(0, now - this.#got) * US;
  }
}

/** The rates of a session. */
export class Rates {
  readonly session: RateSession;
  readonly told = new Told();
  readonly #rates = new Map<string, Rate>();
  /** The rates at which the next new one looks, and the next poll. */
  #toLookAt = this.#rates.values();
  #toPoll = this.#rates.values();
  #began = '';
  #poll: Timer;
  /** What ends the calls that are not repeated. */
  readonly #once = new Set<() => void>();
  end: Error | undefined;

  constructor(session: RateSession) {
    this.session = session;
  }

  /** The rate of a name. */
  of(name: string, numbers: wire.RateNumbers): Rate {
    return this.#rates.get(name) ?? new Rate(this, name, numbers);
  }

  /** Keeps what is known of a rate. Each rate that is new looks at two others, which may have nothing to tell any more. */
  keep(rate: Rate): void {
    if (this.#rates.has(rate.name)) return;
    const moment = this.told.at(this.session.around.clock.now());
    for (let looks = 0; looks < 2; looks++) {
      const next = this.#toLookAt.next();
      if (next.done) this.#toLookAt = this.#rates.values();
      else if (isIdle(next.value) && next.value.isFresh(moment)) this.#rates.delete(next.value.name);
    }
    this.#rates.set(rate.name, rate);
  }

  /** How many rates this process knows. */
  get size(): number {
    return this.#rates.size;
  }

  /** How many requests of this process wait for rates whose names begin so. */
  waiting(prefix: string): number {
    let waiting = 0;
    for (const rate of this.#rates.values()) if (rate.name.startsWith(prefix)) waiting += rate.waiting;
    return waiting;
  }

  /** What goes with a beat. */
  get mark(): wire.Arguments {
    return this.#rates.size === 0 ? [] : wire.beatOfRates(this.told.ages(this.session.around.clock.now()));
  }

  /** Takes a further entry of the reply to a beat that was sent at this time. Returns whether it is of rates. */
  beaten(entry: string, sentAt: number): boolean {
    const beat = wire.beatOfRatesIn(entry);
    if (!beat) return false;
    this.told.hear(beat.moment, sentAt, this.session.around.clock.now());
    if (beat.began !== this.#began && this.#began !== '') this.tellAll();
    this.#began = beat.began;
    return true;
  }

  /** Tells the server what it may have lost, and looks at all rates for which somebody waits. */
  tellAll(): void {
    if (this.end) return;
    const moment = this.told.at(this.session.around.clock.now());
    let left = MOST_TOLD;
    for (const rate of [...this.#rates.values()].reverse()) {
      if (rate.sleepers.size === 0 && (rate.isFresh(moment) || left-- <= 0)) continue;
      rate.tellAgain();
    }
  }

  /** A message was perhaps missed. */
  lookAll(): void {
    for (const rate of this.#rates.values()) if (rate.sleepers.size > 0) rate.look();
  }

  /** Takes news of a message. Returns whether they are of rates. */
  hear(news: string): boolean {
    const tag = wire.rateToLookAt(news);
    if (tag === undefined) return false;
    for (const rate of this.#rates.values()) if (rate.sleepers.size > 0 && tagOf(rate.name) === tag) rate.look();
    return true;
  }

  /** Sends an operation that is not repeated. Resolves to undefined if the session is lost meanwhile. */
  once(args: wire.Arguments): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const over = (end: () => void): void => {
        this.#once.delete(lost);
        end();
      };
      const lost = (): void => over(() => resolve(undefined));
      if (!this.session.isOpen) return lost();
      this.#once.add(lost);
      const answered = (answer: unknown): void => over(() => resolve(answer));
      const failed = (error: unknown): void => over(() => reject(error));
      this.session.calls.send(args, answered, failed, undefined, false);
    });
  }

  /** The session was lost: what is not repeated may or may not have arrived. */
  lost(): void {
    callEach([...this.#once]);
  }

  /** Somebody waits for a rate: looks every second, at a few of those for which somebody waits. */
  poll(): void {
    if (this.#poll !== undefined) return;
    const { clock } = this.session.around;
    this.#poll = clock.after(
      POLL,
      () => {
        this.#poll = undefined;
        if (this.end) return;
        let looks = 0;
        for (let seen = 0; seen < this.#rates.size && looks < MOST_LOOKS; seen++) {
          let next = this.#toPoll.next();
          if (next.done) {
            this.#toPoll = this.#rates.values();
            next = this.#toPoll.next();
          }
          if (next.done || next.value.sleepers.size === 0) continue;
          next.value.look();
          looks++;
        }
        if (looks > 0) this.poll();
      },
      false,
    );
  }

  close(error: Error): void {
    this.end = error;
    this.session.around.clock.stop(this.#poll);
    this.lost();
    for (const rate of this.#rates.values()) rate.wake();
  }
}

const isIdle = ({ sleepers, asking, waiting, isKept }: Rate): boolean =>
  sleepers.size === 0 && asking === 0 && waiting === 0 && !isKept;
