/**
 * A session is this process's lease in one partition of a space. It sends operations, hears of grants, and gives up what
 * it holds before the server may give it to others. What becomes of each request is in requests.ts.
 *
 *     closed --> entering --> open          entering: subscribed, `O` is sent; after a loss also `S`
 *       ^           ^          |            open: operations are sent, one call for each tick of the event loop
 *       |           +-- lost --+            lost: a connection is new, or the server's state is not what it was
 *       +---- idle: X ---------+
 *
 * Why nothing is lost: after a loss `S` settles what was sent for requests, and all else is sent again. A command
 * that is still under way on the old connection carries the old `conn`, and does nothing.
 *
 * Why nobody works on with permits of others: the server takes permits back when a process has watched for 0.75 of a
 * lease, by its own monotonic clock, that no beat came (turn/sessions.lua has the argument). The process that holds
 * counts from when it sent the last answered beat, and gives up after 0.7 leases.
 */
import { Calls, type Runner } from './calls.js';
import type { Timer } from './clock.js';
import type { StopListening } from './drivers/driver.js';
import { asError } from './drivers/link.js';
import { SpaceError } from './errors.js';
import { tellFailover } from './failover.js';
import { Lease, LOST_AFTER } from './lease.js';
import type { Operation, Sender } from './operation.js';
import type { Durability } from './options.js';
import type { Request } from './request.js';
import { type Listing, Requests } from './requests.js';
import { refusal, settingsDiffer } from './server-error.js';
import type { Surroundings } from './surroundings.js';
import { eventsHandled, soon } from './ticks.js';
import { TURN } from './turn-source.js';
import * as wire from './wire.js';

/** How long the server may take to hear of the end, in milliseconds. Later it takes all back as the lease ends. */
const CLOSING = 1000;

const SILENT = new Error('the server does not answer');

type Phase = 'closed' | 'entering' | 'open' | 'ended';

const nothing = (): void => {};

export class Session implements Sender, Runner {
  readonly around: Surroundings;
  readonly requests: Requests;
  readonly #partition: number;
  readonly #keys: string[];
  readonly #channel: string;

  #phase: Phase = 'closed';
  sid = '';
  #conn = 0;
  /** The connection whose messages count: none between a loss and the next `O`. The server may have taken back since what
   * an older message grants. */
  #heardConn = -1;
  /** The number of the last message that was heard, or is known to have been missed. */
  #lastSeq = 0;
  /** A message was missed while the session was entered. */
  #hasGap = false;
  #epoch = '';
  /** Changes with each loss. Answers to calls of an earlier era are ignored. */
  era = 0;
  #stopListening: StopListening | undefined;
  /** Whether the session is being entered: `#enter` loops. */
  #isEntering = false;
  readonly calls: Calls;
  readonly #lease: Lease;
  /** When the last `O` was sent. */
  #enteredAt = 0;
  #beatTimer: Timer;
  /** When the oldest unanswered beat was sent, and how many connections have not answered one. */
  #owedSince = 0;
  #owed = 0;
  fatal: Error | undefined;

  constructor(around: Surroundings, partition: number) {
    this.around = around;
    this.requests = new Requests(this);
    this.calls = new Calls(this);
    this.#partition = partition;
    const { keys, channel } = wire.keysOf(around.space, partition);
    this.#keys = keys;
    this.#channel = channel;
    this.#lease = new Lease(around, () => this.look());
  }

  /** Whether the process must stay alive for the session. */
  get isNeeded(): boolean {
    return this.requests.size > 0 || this.calls.areNeeded;
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  get place(): string {
    return `${this.sid}.${this.#epoch}`;
  }

  // Calls -----------------------------------------------------------------------------------------------------------

  operate(args: wire.Arguments): Promise<unknown> {
    return this.calls.operate(args);
  }

  /** Resolves when enough replicas have confirmed all that was granted to this process so far. */
  async confirm({ replicas, timeout }: Durability): Promise<void> {
    const { driver } = this.around;
    const era = this.era;
    // This reply is not read for grants, so the grants must come by message.
    const args = [...this.#head(), ...wire.beatAside()];
    const confirmed = await driver.confirm(TURN, this.#keys, args, replicas, timeout).catch((error) => {
      throw refusal(error) ?? error;
    });
    if (confirmed >= replicas && era === this.era) return;
    throw new SpaceError('UNCONFIRMED', `${confirmed} of ${replicas} replicas have confirmed the grant`);
  }

  send(...operation: Parameters<Sender['send']>): Operation {
    return this.calls.send(...operation);
  }

  get watchesUntil(): number {
    return this.#lease.watchesUntil;
  }

  #head(sid = this.sid): string[] {
    return wire.call(sid, this.#conn, this.#channel);
  }

  run(args: wire.Arguments): Promise<unknown[] | undefined> {
    return this.#run([...this.#head(), ...args]);
  }

  async #run(args: readonly string[]): Promise<unknown[] | undefined> {
    const era = this.era;
    const reply = await this.around.driver.run(TURN, this.#keys, args);
    this.look();
    if (era !== this.era) return undefined;
    const answers: unknown[] = Array.isArray(reply) ? reply : [reply];
    const [first] = answers;
    // To `O` it is the answer that the server has heard of a later connection: it is no use to go on with this session.
    const isStale = first === wire.STALE;
    const isDead = first === wire.DEAD || (isStale && this.#phase === 'entering');
    if (!isDead && !isStale) return answers;
    if (isDead) {
      this.sid = '';
      this.#lose('the server has ended the session', true);
    }
    this.lost();
    return undefined;
  }

  // Messages --------------------------------------------------------------------------------------------------------

  #heard(message: string): void {
    this.look();
    const { seq, news } = wire.messageIn(message);
    // A message for an earlier connection may tell of what a failover has lost.
    if (Math.floor(seq / wire.SEQS_OF_A_CONNECTION) !== this.#heardConn) return;
    // The server has received `O`, or this message would not exist. The answer to `O` may still be under way.
    if (!this.#lease.isRunning) {
      this.#lease.renew(this.#enteredAt);
      // The process may have stood still for so long that the server has taken back what the message grants.
      this.look();
      if (!this.#lease.isRunning) return;
    }
    const isNext = seq === this.#lastSeq + 1;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    for (const entry of news) this.requests.hear(entry, seq);
    if (!isNext) this.compare();
  }

  /** A message may be lost. Asks the server for its state of all requests. All that was sent before arrives first. */
  compare(): void {
    this.#hasGap = this.#phase !== 'open';
    if (this.#hasGap) return;
    // Entering lists all requests anew. A list from before would take the numbers of messages as seen that it misses.
    for (const [args, listed] of this.requests.listings())
      this.send(args, (answer) => this.#settle(listed, answer, false), nothing, undefined, false);
  }

  #settle(listed: Request[], answer: unknown, entered: boolean, isAnother = false): void {
    const { place, seq, states } = wire.statesIn(answer);
    // The connection may have outlived a failover.
    if (place === this.#epoch) {
      this.requests.settle(listed, states, seq, entered, isAnother);
      this.#lastSeq = Math.max(this.#lastSeq, seq);
    } else {
      soon(() => this.reconnect());
    }
  }

  // Entering --------------------------------------------------------------------------------------------------------

  /** A connection is down, or new; or the server's state is not what it was. */
  reconnect(): void {
    if (this.#phase === 'open') this.lost();
  }

  /** What is under way may or may not arrive. Enters again. */
  lost(): void {
    this.era++;
    this.#heardConn = -1;
    this.requests.lost();
    this.calls.lost();
    this.around.clock.stop(this.#beatTimer);
    this.#owed = 0;
    this.enter();
  }

  /** Enters the session. It must not be open any more. */
  enter(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'entering';
    if (this.#isEntering) return;
    this.#isEntering = true;
    void this.#tryToEnter().finally(() => {
      this.#isEntering = false;
      // A loss, or a request, may have come between the last step and here.
      if (this.#phase === 'entering') this.enter();
    });
  }

  async #tryToEnter(): Promise<void> {
    for (let attempt = 0; this.#phase === 'entering'; attempt++) {
      if (this.sid === '' && !this.isNeeded) {
        this.#phase = 'closed';
        return;
      }
      await this.around.whenConnected().catch(nothing);
      if (this.#phase !== 'entering') return;
      const era = this.era;
      const { clock, driver, lease } = this.around;
      // A connection that has been idle may stand and carry nothing. A server that is slow gets more time with each attempt.
      const most = Math.min(lease / 2, Math.max(250, lease / 8) * 2 ** attempt);
      let timer: Timer;
      const patience = (): void => {
        clock.stop(timer);
        timer = clock.after(most, () => driver.reset(SILENT), false);
      };
      patience();
      try {
        if (await this.#enterOnce(patience)) attempt = 0;
      } catch (error) {
        this.around.note(asError(error));
        this.refuse(error instanceof SpaceError ? error : refusal(error));
      } finally {
        clock.stop(timer);
      }
      if (this.#phase === 'entering' && era === this.era) await this.#wait(Math.min(1000, 10 * 2 ** attempt));
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.around.clock.after(ms * (0.5 + Math.random() / 2), resolve, this.isNeeded));
  }

  /** Resolves to whether trying again soon may help. */
  async #enterOnce(patience: () => void): Promise<unknown> {
    const { clock, driver, lease, partitions, label } = this.around;
    const { requests } = this;
    const era = this.era;
    const isNew = this.sid === '';
    const sid = isNew ? wire.newSid(driver.cluster) : this.sid;
    if (isNew) {
      await this.#stopListening?.().catch(nothing);
      this.#stopListening = undefined;
      const stop = await driver.listen(this.#channel + sid, (message) => this.#heard(message));
      // The space was closed meanwhile, or the connection was lost.
      if (era !== this.era) return stop().catch(nothing);
      this.#stopListening = stop;
      this.#conn = 0;
    } else {
      this.#conn++;
    }
    this.#lastSeq = this.#conn * wire.SEQS_OF_A_CONNECTION;
    this.#heardConn = this.#conn;
    this.#hasGap = false;
    const listings = isNew ? [] : requests.listings();
    const seen = this.#seen();
    const args = this.#head(sid);
    args.push(...wire.enter(partitions, lease, label, seen, requests.lastTicket));
    if (!isNew) args.push(...(listings[0] as Listing)[0]);
    let sentAt = clock.now();
    this.#enteredAt = sentAt;
    const reply = await this.#run(args);
    if (!reply) return undefined;
    const entered = wire.enteredIn(reply[0]);
    if (entered.is === 'others') throw settingsDiffer(this.around, entered.settings);
    const { sign } = entered;
    // Somebody may be dead, and the process must watch before that is sure.
    if (entered.is === 'watch') return sign.told === seen || this.#tell(sign, entered.lease);
    this.#tell(sign);
    const epoch = sign.place;
    const before = this.#epoch;
    const isAnother = before !== '' && epoch !== before;
    const silence = clock.now() - this.#lease.renewedAt;
    const answers = reply.slice(1, 2);
    // No call takes the server long. Each beats, too.
    for (let at = 0; at < listings.length; ) {
      if (at in answers && wire.statesIn(answers[at]).isWhole) {
        at++;
        continue;
      }
      this.#lease.renew(sentAt);
      patience();
      sentAt = clock.now();
      const next = await this.#run([...this.#head(sid), ...wire.beatAside(), ...(listings[at] as Listing)[0]]);
      if (!next) return undefined;
      answers[at] = next[1];
    }
    this.around.note();
    this.sid = sid;
    this.#phase = 'open';
    this.#lease.renew(sentAt);
    // The process may have stood still for so long that the server has taken back what the answer grants.
    this.look();
    if (era !== this.era) return undefined;
    this.#epoch = epoch;
    this.#orderBeats();
    // Operations that were asked for meanwhile come after those that were asked for before.
    this.calls.sendFirst(() => {
      for (const [at, [, listed]] of listings.entries()) this.#settle(listed, answers[at], true, isAnother);
      requests.askForOthers(listings.flatMap(([, listed]) => listed));
    });
    if (this.#hasGap) this.compare();
    this.calls.flush();
    this.#beatLater();
    if (isAnother)
      void tellFailover(this.around, this.#keys[0] as string, before, silence, () => this.#phase === 'ended');
    if (!isNew) this.around.emit('resumed');
    return this.around.keepAlive();
  }

  /** The server refuses this process. As long as there is a lease, that may change before the lease ends. */
  refuse(error: SpaceError | undefined): void {
    if (error && !this.#lease.isRunning) this.abandon(error);
  }

  /** There is no server to be used. Everybody hears it. For the server it is a death. A later request tries again. */
  abandon(error: SpaceError): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'closed';
    this.#lose(error.message, true);
    this.#fail(error);
    this.#forget();
  }

  #fail(error: Error): void {
    this.calls.fail(error, () => this.requests.fail(error));
  }

  // The lease -------------------------------------------------------------------------------------------------------

  #tell(sign: wire.Sign, lease?: number): void {
    this.requests.learn(sign.ticket);
    this.#lease.tell(sign, lease);
  }

  /** Names the dead sessions: those that have given no sign of life since. */
  #seen(): string {
    return this.#lease.seen?.told ?? wire.NONE;
  }

  #orderBeats(): void {
    const order = {
      partition: this.#partition,
      sid: this.sid,
      conn: this.#conn,
      keys: this.#keys,
      channel: this.#channel,
    };
    this.around.heartbeat?.order(order);
  }

  look(): void {
    const { clock, lease, heartbeat } = this.around;
    const now = clock.now();
    if (now < this.#lease.deadline) return;
    const beatenAt = heartbeat?.lastOf(this.#partition) ?? 0;
    if (beatenAt + LOST_AFTER * lease > now) {
      this.#lease.renew(beatenAt);
      return;
    }
    this.#lease.end();
    const words = this.around.lastWords();
    this.#lose(
      `the ${words ? 'lease was not renewed' : 'server has not answered'} for 0.7 of the lease${words}`,
      false,
    );
    // An answer or a message that comes now may be older than what the server has taken back since.
    if (this.#phase === 'open') this.lost();
    // The connection may stand and carry nothing.
    if (!words) this.around.driver.reset(SILENT);
  }

  /** All that is held is lost. forgotten: the server has taken it back. */
  #lose(why: string, forgotten: boolean): void {
    this.#lease.end();
    this.requests.lose(why, forgotten);
  }

  beatSoon(): void {
    this.#beatLater(true);
  }

  #beatLater(soonest = false): void {
    const { clock, lease } = this.around;
    clock.stop(this.#beatTimer);
    const ms = soonest ? 0 : (lease / 4) * (0.8 + 0.2 * Math.random());
    this.#beatTimer = clock.after(ms, () => this.#beat(), false);
  }

  async #beat(): Promise<void> {
    // An answer that came while the process was busy counts.
    if (this.#owed > 0) await eventsHandled();
    if (this.#phase !== 'open') return;
    const { clock, lease, driver } = this.around;
    const sentAt = clock.now();
    if (!this.isNeeded && sentAt - this.requests.usedAt > lease) {
      this.#leave();
      return;
    }
    this.#beatLater();
    // A connection may stand and carry nothing. With a short lease, a busy machine would look the same.
    if (this.#owed > 0 && sentAt - this.#owedSince > Math.max(250, lease / 6)) return driver.reset(SILENT);
    const era = this.era;
    const isFirst = this.#owed === 0;
    const answered = (): void => {
      if (isFirst && era === this.era) this.#owed--;
    };
    if (isFirst) {
      this.#owedSince = sentAt;
      this.#owed = driver.ping ? 2 : 1;
      // A refusal is an answer too.
      driver.ping?.(this.#channel).then(answered, answered);
    }
    this.run([...wire.beat(this.#seen()), ...this.requests.marks()]).then(
      (reply) => {
        if (!reply) return;
        answered();
        this.#lease.renew(sentAt);
        const [first, ...entries] = reply.map(String) as [string, ...string[]];
        const { seq, isLeft, sign } = wire.beatIn(first);
        this.#tell(sign);
        // The connection may have outlived a failover.
        if (sign.place !== this.#epoch) return this.lost();
        for (const entry of entries) this.requests.hear(entry);
        if (seq !== this.#lastSeq) this.compare();
        if (isLeft) this.#beatLater(true);
      },
      () => {
        if (era === this.era) this.lost();
      },
    );
  }

  /** Nobody holds or waits: the session ends, and the next request opens another. */
  #leave(): void {
    this.run(wire.leave()).catch(nothing);
    this.#forget();
    this.#phase = 'closed';
  }

  #forget(): void {
    const { clock } = this.around;
    this.era++;
    this.sid = '';
    this.#orderBeats();
    this.#lease.end();
    clock.stop(this.#beatTimer);
    void this.#stopListening?.().catch(nothing);
    this.#stopListening = undefined;
  }

  /** The space is closed: everything goes back at once. Resolves when the server has it, and never rejects. */
  async close(error: Error): Promise<void> {
    const wasOpen = this.#phase === 'open';
    this.calls.flush();
    this.#phase = 'ended';
    this.fatal = error;
    const { clock, driver, lease } = this.around;
    // A caller that waits for the close must be told of its end, even if the server does not answer.
    this.calls.operating++;
    const patience = clock.after(Math.min(CLOSING, lease / 2), () => driver.reset(), true);
    const end = (): Promise<unknown> => driver.run(TURN, this.#keys, [...head, ...wire.leave()]);
    const head = this.#head();
    let sent = wasOpen ? end() : undefined;
    this.#fail(error);
    this.#forget();
    // No call takes the server long: it answers that something is left.
    while (String(await sent?.catch(nothing)) === wire.LEFT) sent = end();
    clock.stop(patience);
    this.calls.operating--;
    this.around.keepAlive();
  }
}
