/**
 * Histories of a rate: the shipped client of rates (session/rates.ts, objects/rate-wait.ts) on the shipped script, in a
 * world whose time passes when it is told to. So no run depends on how fast the machine is, and each is the same for the
 * same seed.
 *
 * The world has processes, calls and messages under way, and a server. What happens by chance: trips that take long,
 * processes that are busy, that die while their calls are under way, signals, time-outs, pauses, permits that are given
 * back, jumps of the server's clock, losses of all data, and evictions of the state of the rate, which nobody notices.
 *
 * Checked: at most so many permits begin in any window of the true time, or, where states are evicted, of those of one
 * epoch of the server; the dates are in the order in which the requests
 * reach the server, but for those that were given back; nobody begins before the date that it was told, or more than a
 * part of the slack later; and, in `begun`, how many permits begin of those that are possible.
 */
import { faultIn } from '../src/local/grammar.js';
import { type Outcome, State } from '../src/local/state.js';
import { rateNumbersOf, take } from '../src/objects/rate-wait.js';
import type { Clock } from '../src/runtime/clock.js';
import * as wire from '../src/script/wire.js';
import type { Saying } from '../src/session/operation.js';
import { type Rate, type RateSession, Rates } from '../src/session/rates.js';
import type { Surroundings } from '../src/session/surroundings.js';
import { Asked, beginsEpoch, Dates, Given, untold, Windows } from './rate-checks.js';
import { mulberry, type Random } from './simulation.js';

export interface HistoryOptions {
  readonly seed: number;
  readonly takes: number;
  readonly permits?: number;
  readonly per?: number;
  readonly burst?: number;
  readonly slack?: number;
  readonly processes?: number;
  /** The tasks of each process. */
  readonly tasks?: number;
  /** How often something happens, in a thousand takes. */
  readonly deaths?: number;
  readonly busy?: number;
  readonly signals?: number;
  readonly timeouts?: number;
  readonly pauses?: number;
  readonly returns?: number;
  readonly jumps?: number;
  /** The longest jump, in milliseconds. */
  readonly longestJump?: number;
  readonly losses?: number;
  /** A replica that lacks the last writes becomes the server. */
  readonly failovers?: number;
  /** The broker dies, and the next one takes over after one to four seconds. It has lost nothing. */
  readonly takeovers?: number;
  readonly cuts?: number;
  /** The server drops the state of the rate, as if memory was full. */
  readonly evictions?: number;
  /** Of a thousand trips, how many take long. */
  readonly slow?: number;
  /** Until when, in milliseconds. */
  readonly slowUntil?: number;
  /** Another script. */
  readonly script?: Parameters<typeof State.begin>[3];
}

export interface History {
  readonly faults: readonly string[];
  readonly takes: number;
  /** The most permits that have begun in a window. */
  readonly most: number;
  /** The part of the possible permits that has begun. */
  readonly begun: number;
  /** The longest time without a begin, in milliseconds. */
  readonly longestGap: number;
  /** The slack of the server, the longest and the last, in milliseconds. */
  readonly longestSlack: number;
  readonly slack: number;
  readonly happened: ReadonlyMap<string, number>;
}

const START = 1_700_000_000_000;
const CHANNEL = 'c:';
/** From when on jumps are noticed: each process has been told the time and has beaten. In milliseconds. */
const NOTICED_JUMPS = 1000;
/** The longest jump, in milliseconds. Few of such jumps are short. */
const FAR = 10_000_000;
/** How long a trip takes at most that is not slow, in milliseconds. */
const TRIP = 2;
/** For how long the script gives no dates after a loss, in microseconds (BEATS of a lease of rates.lua). */
const BEAT_US = 1_000_000;
/** How long after a loss that a process has noticed it has told the server the time, in milliseconds. */
const FIRST_BACK = 100;
/** For how long the server counts a process as alive that has died, in milliseconds. */
const NOTICED = 60;

/** Events in the order of their times. */
class Agenda {
  readonly #heap: { at: number; run: () => void }[] = [];

  get size(): number {
    return this.#heap.length;
  }

  add(event: { at: number; run: () => void }): void {
    const heap = this.#heap;
    let place = heap.push(event) - 1;
    for (let up = (place - 1) >> 1; place > 0 && (heap[up] as typeof event).at > event.at; up = (place - 1) >> 1) {
      heap[place] = heap[up] as typeof event;
      place = up;
    }
    heap[place] = event;
  }

  next(): { at: number; run: () => void } | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (heap.length === 0 || !last) return first;
    let place = 0;
    for (;;) {
      let down = 2 * place + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && (heap[down + 1] as typeof last).at < (heap[down] as typeof last).at) down++;
      if ((heap[down] as typeof last).at >= last.at) break;
      heap[place] = heap[down] as typeof last;
      place = down;
    }
    heap[place] = last;
    return first;
  }
}

const eventsHandled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Something that the history must not contain. */
const rounded = (ms: number): string => ms.toFixed(3);

class World {
  readonly options: Required<Omit<HistoryOptions, 'script'>> & Pick<HistoryOptions, 'script'>;
  readonly random: Random;
  readonly numbers: wire.RateNumbers;
  readonly agenda = new Agenda();
  readonly happened = new Map<string, number>();
  readonly faults: string[] = [];
  /** The true time, in milliseconds. */
  now = 0;
  server: State;
  /** By how much the server's clock is wrong. */
  offset = 0;
  /** How many histories of the server's data there were, and how many servers. */
  histories = 1;
  servers = 1;
  processes: Process[] = [];
  started = 0;
  takes = 0;
  #slack = 0;
  #longestSlack = 0;
  readonly windows: Windows;
  /** The windows of each epoch of the server. */
  readonly #ofEpochs = new Map<number, Windows>();
  readonly #dates: Dates;
  readonly #given = new Given();
  #before: wire.RateAnswer | undefined;

  constructor(options: HistoryOptions) {
    const usual = {
      ...{ permits: 20, per: 200, burst: 5, slack: 40, processes: 8, tasks: 2 },
      ...{
        deaths: 0,
        busy: 0,
        signals: 0,
        timeouts: 0,
        pauses: 0,
        returns: 0,
        jumps: 0,
        longestJump: FAR,
        losses: 0,
        failovers: 0,
        takeovers: 0,
        cuts: 0,
        evictions: 0,
        slow: 0,
        slowUntil: Number.POSITIVE_INFINITY,
      },
    };
    this.options = { ...usual, ...options };
    const { permits, per, burst, slack, seed } = this.options;
    this.numbers = rateNumbersOf('rate', permits, per, { burst, slack });
    this.windows = new Windows(permits, per);
    this.#dates = new Dates();
    this.random = mulberry(seed);
    this.server = State.begin('1'.padStart(40, '0'), START, 0, options.script);
    for (let i = 0; i < this.options.processes; i++) this.#start();
  }

  #start(): void {
    const process = new Process(this, this.started++);
    this.processes.push(process);
    process.join();
  }

  count(what: string): void {
    this.happened.set(what, (this.happened.get(what) ?? 0) + 1);
  }

  /** Whether something happens that happens so often in a thousand takes. */
  happens(often: number): boolean {
    return this.random(1000) < often;
  }

  fault(text: string): void {
    if (this.faults.length < 5) this.faults.push(`${text}, at ${rounded(this.now)}`);
  }

  trip(): number {
    return this.now < this.options.slowUntil && this.happens(this.options.slow)
      ? 1 + this.random(this.options.slack * 2)
      : 0.1 + (this.random(1000) * (TRIP - 0.1)) / 1000;
  }

  at(at: number, run: () => void): void {
    this.agenda.add({ at: Math.max(at, this.now), run });
  }

  get serverTime(): number {
    return Math.floor(START + this.now + this.offset);
  }

  call(args: readonly string[]): Outcome {
    const fault = faultIn(args);
    if (fault) this.fault(`the broker refuses ${args.join(' ')}: ${fault}`);
    const outcome = this.server.turn(args, args[0] as string, this.serverTime);
    this.deliver(outcome);
    if (args[3] === 'E') this.#checkOrder(args, String(outcome.reply[0]));
    return outcome;
  }

  deliver({ messages }: Outcome): void {
    for (const { sid, text } of messages) {
      const process = this.processes.find((each) => each.session.sid === sid);
      // One in ten messages is lost.
      if (!process || this.random(10) === 0) continue;
      process.in(this.trip(), () => {
        for (const news of wire.messageIn(text).news) process.rates.hear(news);
      });
    }
  }

  #checkOrder(args: readonly string[], reply: string): void {
    const answer = wire.rateIn(reply, this.numbers, { epoch: Number(args[6]) });
    if ('most' in answer) {
      this.fault(`refuses ${args.join(' ')}`);
      return;
    }
    this.#slack = answer.slack / 1000;
    this.#longestSlack = Math.max(this.#longestSlack, this.#slack);
    if (args[12] !== 'T' || !answer.ok) {
      this.#dates.changed(answer);
      return;
    }
    const { jumps, evictions } = this.options;
    const isNew = this.histories === 1 && jumps === 0 && evictions === 0 && beginsEpoch(answer, this.#before);
    if (isNew) this.fault(`begins a new epoch though nothing was lost: ${reply}`);
    this.#before = answer;
    // What a process has told of a loss counts at dates that it was told.
    const isWrong = this.#dates.got(answer, Number(args[13]), this.histories > 1 ? Infinity : BEAT_US);
    const wrong = isWrong ?? this.#given.got(answer);
    if (wrong) this.fault(`${wrong}: ${reply}`);
    if (answer.date < answer.last) this.count('got a date that was given back');
  }

  begin(width: number, asked: Asked): void {
    const { per, slack, takes, longestJump } = this.options;
    const { now } = this;
    const { told } = asked;
    // What an evicted state has dated counts only when somebody asks who knows of it.
    const isExcused = this.options.evictions > 0;
    const ofAll = this.windows.begin(now, width, isExcused);
    const tooMany = isExcused ? this.#windowsOf(told).begin(now, width) : ofAll;
    if (tooMany) this.fault(`${tooMany} permits begin in ${per} ms`);
    if (!told) this.fault('begins without a date');
    else if (!told.isMoved()) {
      const { early, late } = untold(told.answer, { ...told, at: now });
      // Another process may know the time less exactly, by a round trip; after a loss, by more. Of a short jump, a quarter
      // of the slack counts as time.
      const inexact = 2 * TRIP + (longestJump < FAR ? slack / 4 : 0);
      if (early > inexact && this.histories === 1) this.fault(`begins ${rounded(early)} ms before its date`);
      if (late > 0) this.fault(`begins ${rounded(late)} ms later than it was told`);
    }
    this.takes++;
    if (this.takes < takes) this.#happens();
  }

  #windowsOf(told: Asked['told']): Windows {
    const epoch = told?.answer.epoch ?? 0;
    const { permits, per } = this.options;
    const windows = this.#ofEpochs.get(epoch) ?? new Windows(permits, per);
    this.#ofEpochs.set(epoch, windows);
    return windows;
  }

  /** What happens to the world after a take. */
  #happens(): void {
    const { deaths, pauses, returns, jumps, longestJump, losses, failovers, takeovers, cuts, evictions } = this.options;
    const some = this.processes[this.random(this.processes.length)] as Process;
    if (this.happens(deaths)) {
      this.count('deaths');
      some.die();
      this.processes = this.processes.filter((each) => each !== some);
      this.#start();
    }
    if (this.happens(pauses)) {
      this.count('pauses');
      some.rate.pause(this.random(2 * this.options.per) * 1000).catch(() => {});
    }
    if (this.happens(returns)) {
      this.count('permits given back unused');
      const back = 1 + this.random(3);
      take(some.rate, { what: 'take', permits: back, options: {}, begin: () => {} }).then(
        () => some.rate.tell(['S', -back]),
        () => {},
      );
    }
    // A jump before the first beat counts as time.
    if (this.now > NOTICED_JUMPS && this.happens(jumps)) {
      this.count('jumps');
      const before = this.offset;
      this.offset = this.random(3) === 0 ? 0 : (this.random(2) ? 1 : -1) * this.random(longestJump);
      // Keys may have expired.
      if (this.offset > before) this.#dates.begins();
    }
    if (this.happens(losses)) this.#lose();
    if (this.happens(evictions)) this.#evict();
    if (this.happens(failovers)) {
      const replica = this.server.dump();
      const { histories } = this;
      this.at(this.now + this.random(this.options.per / 4), () => {
        if (histories === this.histories) this.#failOver(replica);
      });
    }
    if (this.happens(takeovers)) this.#takeOver();
    if (this.happens(cuts)) {
      this.count('cuts');
      some.reconnect();
    }
  }

  /** Nobody notices this, so the server goes on as the same one. */
  #evict(): void {
    this.count('evictions');
    const rest = { ...JSON.parse(this.server.dump()), rates: [], ends: [] };
    this.server = State.load(JSON.stringify(rest), this.options.script);
    this.#dates.begins();
  }

  /**
   * The server loses all, and each process notices that within half a second. Soon after the first has come back, a process
   * starts that knows of nothing: before, it would set the time of the partition, and get dates at once.
   */
  #lose(): void {
    this.count('losses');
    this.servers++;
    this.server = State.begin(`${++this.histories}`.padStart(40, '0'), this.serverTime, 0, this.options.script);
    this.#dates.begins();
    for (const process of this.processes) process.isKnown = false;
    const delays = this.processes.map((process) => {
      const delay = this.random(500);
      process.in(delay, () => process.reconnect());
      return delay;
    });
    this.at(this.now + Math.min(...delays) + FIRST_BACK, () => this.#start());
  }

  /** All connections are lost, and calls that are under way do not arrive. */
  #takeOver(): void {
    this.count('takeovers');
    this.server = State.load(this.server.dump(), this.options.script);
    this.servers++;
    for (const process of this.processes) process.cut();
    const until = 1000 + this.random(3000);
    for (const process of this.processes) process.in(until + this.random(20), () => process.reconnect());
  }

  /** The replica becomes the server, and the processes connect to it within 20 ms. A process that knows of nothing starts. */
  #failOver(replica: string): void {
    this.count('failovers');
    this.histories++;
    this.servers++;
    this.server = State.load(replica, this.options.script);
    this.#dates.begins();
    for (const process of this.processes) {
      process.cut();
      process.isKnown = this.server.members.has(process.session.sid);
    }
    for (const process of this.processes) process.in(this.random(20), () => process.reconnect());
    this.#start();
  }

  async run(): Promise<History> {
    const { takes, permits, per, slack } = this.options;
    while (this.takes < takes && this.faults.length === 0) {
      const event = this.agenda.next();
      if (!event) {
        this.fault('nobody goes on');
        break;
      }
      this.now = Math.max(this.now, event.at);
      event.run();
      await eventsHandled();
    }
    for (const process of this.processes) process.die();
    const possible = (permits * this.now) / (per + slack);
    const { all, most, longestGap } = this.windows;
    const begun = all / possible;
    const { faults, happened } = this;
    const slacks = { longestSlack: this.#longestSlack, slack: this.#slack };
    return { faults, takes: this.takes, most, begun, longestGap, ...slacks, happened };
  }
}

/** A process: a session without requests, whose calls and messages take their time. */
class Process {
  readonly #world: World;
  readonly session: RateSession & { sid: string };
  readonly rates: Rates;
  readonly rate: Rate;
  readonly clock: Clock;
  /** Whether the server knows the session. */
  isKnown = false;
  #conn = 0;
  /** Changes with each connection. What an earlier one carries back is not heard. */
  #era = 0;
  #isOpen = false;
  #isDead = false;
  #diedAt = -1;
  #busyUntil = 0;
  /** Both directions of the connection keep the order. */
  #sentUntil = 0;
  #heardUntil = 0;
  #waiting: (() => void)[] = [];

  constructor(world: World, number: number) {
    this.#world = world;
    this.clock = {
      now: () => world.now,
      after: (ms, run) => {
        const timer = { isStopped: false };
        this.in(ms, () => {
          if (!timer.isStopped) run();
        });
        return timer;
      },
      stop: (timer) => {
        if (timer) (timer as { isStopped: boolean }).isStopped = true;
      },
    };
    const process = this;
    const around = {
      clock: this.clock,
      stamp: () => 1,
      lastWords: () => '',
      measureRate: (event: string) => world.count(event),
    } as unknown as Surroundings;
    this.session = {
      around,
      sid: `a${number.toString(16).padStart(15, '0')}`,
      get isOpen() {
        return process.#isOpen;
      },
      fatal: undefined,
      lease: { isRunning: true },
      calls: {
        operate: (args) => this.#operate(args),
        attend: (work) => work,
        send: (args, answered) => {
          this.#send(args, answered);
          return undefined as never;
        },
      },
      look: () => {},
    };
    this.rates = new Rates(this.session);
    this.rate = this.rates.of('api', world.numbers);
    this.rate.isKept = true;
  }

  /** Runs something after so many milliseconds, or when the process is no longer busy. */
  in(ms: number, run: () => void): void {
    const world = this.#world;
    world.at(world.now + ms, () => {
      if (this.#isDead) return;
      if (world.now < this.#busyUntil) this.in(this.#busyUntil - world.now, run);
      else run();
    });
  }

  /** Sends a call, which may arrive after the death of the process. */
  #call(args: readonly string[], replied: (reply: readonly unknown[]) => void): void {
    const world = this.#world;
    const [era, conn, { servers }] = [this.#era, this.#conn, world];
    this.#sentUntil = Math.max(this.#sentUntil, world.now + world.trip());
    world.at(this.#sentUntil, () => {
      // What was under way to a server that has lost all does not arrive.
      if (servers !== world.servers) return;
      const { reply } = world.call([this.session.sid, `${conn}`, CHANNEL, ...args]);
      this.#heardUntil = Math.max(this.#heardUntil, world.now + world.trip());
      this.in(this.#heardUntil - world.now, () => {
        if (era === this.#era) replied(reply);
      });
    });
  }

  #send(args: readonly string[], answered: (answer: unknown) => void): void {
    if (this.#isOpen) this.#call(args, ([answer]) => answered(answer));
  }

  /** As `Calls.operate`: after a loss the operation is sent again. */
  #operate(saying: Saying): Promise<unknown> {
    return new Promise((resolve) => {
      let isAnswered = false;
      const send = (): void => {
        if (isAnswered) return;
        this.#waiting.push(send);
        if (!this.#isOpen) return;
        this.#call(typeof saying === 'function' ? saying() : saying, ([answer]) => {
          isAnswered = true;
          this.#waiting = this.#waiting.filter((each) => each !== send);
          resolve(answer);
        });
      };
      send();
    });
  }

  join(): void {
    this.reconnect(() => {
      for (let i = 0; i < this.#world.options.tasks; i++) void this.#task();
      this.#beat();
    });
  }

  /** The connection is lost. */
  cut(): void {
    this.#era++;
    this.#isOpen = false;
    this.rates.lost();
  }

  /** The connection was lost: opens or resumes the session by a new one. */
  reconnect(joined = (): void => {}): void {
    this.cut();
    this.#conn = this.isKnown ? this.#conn + 1 : 0;
    const { histories } = this.#world;
    // Of all losses, each process was told larger tickets than the server makes from its time.
    const topmost = histories > 1 ? ((histories + 8) * 2 ** 44).toString(16) : '0';
    this.#call(wire.enter(1, 500, 'label', '-', topmost).map(String), ([answer]) => {
      if (!String(answer).startsWith('O ')) {
        this.#world.fault(`O is answered by ${answer}`);
        return;
      }
      this.isKnown = histories === this.#world.histories;
      this.#isOpen = true;
      for (const send of this.#waiting.splice(0)) send();
      this.rates.tellAll();
      joined();
    });
  }

  #beat(): void {
    this.in(80 + this.#world.random(80), () => {
      const sentAt = this.clock.now();
      if (this.#isOpen)
        this.#call([...wire.beat('-'), ...this.rates.mark], ([, ...entries]) => {
          for (const entry of entries) this.rates.beaten(String(entry), sentAt);
        });
      this.#beat();
    });
  }

  async #task(): Promise<void> {
    const world = this.#world;
    const { permits, per, slack, signals, timeouts, busy } = world.options;
    for (;;) {
      const width = world.random(5) === 0 ? 1 + world.random(Math.min(4, permits)) : 1;
      const timeout = world.happens(timeouts) ? world.random(per) : Infinity;
      const abortion = world.happens(signals) ? new AbortController() : undefined;
      if (abortion) this.in(world.random(per), () => abortion.abort());
      const begin = (): void => {
        // It has died by the begin of another task, in the same step.
        if (world.now === this.#diedAt) return;
        if (this.#isDead) world.fault('a dead process begins');
        else world.begin(width, asked);
      };
      const asked = new Asked();
      const wait = { timeout, signal: abortion?.signal };
      await asked.run(() => take(this.rate, { what: 'take', permits: width, options: wait, begin })).catch(() => {});
      if (this.#isDead) return;
      if (world.happens(busy)) this.#busyUntil = world.now + world.random(3 * slack);
      await new Promise<void>((resolve) => this.in(world.random(5), resolve));
    }
  }

  die(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    const world = this.#world;
    this.#diedAt = world.now;
    const { histories } = world;
    world.at(world.now + NOTICED, () => {
      if (histories !== world.histories) return;
      for (let isLeft = true; isLeft; ) {
        const outcome = world.server.reap(this.session.sid, world.serverTime);
        ({ isLeft } = outcome);
        world.deliver(outcome);
      }
    });
  }
}

/** Runs a history. */
export const rateHistory = (options: HistoryOptions): Promise<History> => new World(options).run();
