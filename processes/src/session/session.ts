/**
 * A session is this process's lease in one partition of a space. The session sends operations, hears of grants, and
 * gives up what the process holds before the server may give it to others. requests.ts says what becomes of each
 * request. The letters `O` (enter), `S` (list the requests), `B` (beat) and `X` (leave) are operations; script/wire.ts
 * lists all of them.
 *
 *     closed --> entering --> open          entering: it listens to its channel and sends `O`; after a loss also `S`
 *       ^           ^          |            open: it sends operations, one call for each iteration of the event loop
 *       |           +-- lost --+            lost: a connection is new, or the server's state is not what it was
 *       +-- no server can be used           ended (from every state): the space was closed
 *
 * A session is entered when the process first uses the partition. It stays open while the process is idle, because an
 * idle process watches the others, too. attempts.ts tries to enter the session. A session that is entered beats: six to
 * ten times a lease it sends `B`, by which the server sees that the process lives (beats.ts). lease.ts tells when the
 * lease is over.
 *
 * Why nothing gets lost with a connection: when the session is entered again, the answer to `S` tells what has become
 * of each request. So the operations that belong to a request are not sent again. Operations that belong to no request
 * are sent again. A command that is still under way on an old connection carries the old number `conn`, so the server
 * does nothing for it.
 *
 * Why no process works on with permits that another process has got: the server takes permits back only when some other
 * process has watched for 0.9 of a lease, by its own monotonic clock, that no sign of life came (script/sessions.lua
 * has the argument). The process that holds the permits counts from the moment when it sent the last beat that was
 * answered, and gives up what it holds 0.85 of a lease after this moment.
 */

import type { StopListening } from '../drivers/driver.js';
import { SilentError } from '../drivers/link.js';
import { SpaceError } from '../errors.js';
import { type Durability, ownLabel } from '../options.js';
import { later, soon } from '../runtime/ticks.js';
import * as wire from '../script/wire.js';
import { type Entering, tryToEnter } from './attempts.js';
import { type Beating, Beats } from './beats.js';
import { Calls, type Runner } from './calls.js';
import { tellFailover } from './failover.js';
import { Lease, LOST_AFTER } from './lease.js';
import type { Sender } from './operation.js';
import { Rates } from './rates.js';
import type { Request } from './request.js';
import type { Listing } from './request-table.js';
import { Requests } from './requests.js';
import { refusal, settingsDiffer } from './server-error.js';
import type { Surroundings } from './surroundings.js';

/**
 * How long `close` waits at most for each answer to `X`, in milliseconds. If the server does not hear that the
 * session has ended, it takes everything back when the lease is over.
 */
const CLOSING = 1000;

type Phase = 'closed' | 'entering' | 'open' | 'ended';

const nothing = (): void => {};

export class Session implements Sender, Runner, Beating, Entering {
  readonly around: Surroundings;
  readonly requests: Requests;
  readonly rates: Rates;
  readonly #partition: number;
  readonly #keys: string[];
  readonly channel: string;

  #phase: Phase = 'closed';
  /** The name of the session on the server; '' if the server knows none. */
  sid = '';
  /** The number of the connection, which grows with each attempt to resume the session. */
  #conn = 0;
  /**
   * The number of the connection whose messages count; -1 between a loss and the next `O`. Older messages do not count:
   * the server may meanwhile have taken back what they grant.
   */
  #heardConn = -1;
  /** The number of the last message that the session has heard, or knows to have missed. */
  #lastSeq = 0;
  /** Whether a message was missed while the session was being entered. */
  #hasGap = false;
  /** The history of the server's data, as `Sign.place`. */
  #epoch = '';
  /** Changes with each loss. Answers to calls of an earlier era are ignored. */
  era = 0;
  #stopListening: StopListening | undefined;
  /** The name of a session that the server has not opened, and to whose channel this process listens; '' if none. */
  #unused = '';
  /** The confirmation by replicas that has begun last, and the one that begins when it is over. */
  #confirms = Promise.resolve();
  #confirmsNext: Promise<void> | undefined;
  /** Whether `tryToEnter` runs. */
  #isTrying = false;
  readonly calls: Calls;
  readonly beats: Beats;
  readonly lease: Lease;
  /** When the last `O` was sent. */
  #enteredAt = 0;
  /** Why the session has ended for good. */
  fatal: Error | undefined;

  constructor(around: Surroundings, partition: number) {
    this.around = around;
    this.requests = new Requests(this);
    this.rates = new Rates(this);
    this.calls = new Calls(this);
    this.beats = new Beats(this);
    this.#partition = partition;
    const { keys, channel } = wire.keysOf(around.space, partition);
    this.#keys = keys;
    this.channel = channel;
    this.lease = new Lease(around, partition, () => this.#leaseIsOver());
  }

  /** Whether the process must stay alive for the session. */
  get isNeeded(): boolean {
    return this.requests.table.size > 0 || this.calls.areNeeded;
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  get isEntering(): boolean {
    return this.#phase === 'entering';
  }

  /** Names the session and the history of the data. */
  get place(): string {
    return `${this.sid}.${this.#epoch}`;
  }

  // Calls -----------------------------------------------------------------------------------------------------------

  /**
   * Resolves when enough replicas have confirmed all that was granted to this process so far. While the server waits for
   * replicas, it reads nothing more from this connection. So what is granted meanwhile is confirmed together.
   */
  confirm(durability: Durability): Promise<void> {
    this.#confirmsNext ??= this.#confirms.catch(nothing).then(() => {
      this.#confirmsNext = undefined;
      this.#confirms = this.#confirmAll(durability);
      return this.#confirms;
    });
    return this.#confirmsNext;
  }

  async #confirmAll({ replicas, timeout }: Durability): Promise<void> {
    const { driver, script } = this.around;
    const era = this.era;
    // The connection may lead to another server than the one that has made the grant.
    let isThere = false;
    const ran = (reply: unknown): void => {
      isThere = wire.beatIn([reply].flat()[0]).sign.place === this.#epoch;
    };
    // Nobody looks for grants in the reply to this beat. So the beat must be one after which grants come by message.
    const args = [...this.#head(), ...wire.beatAside()];
    const confirmed = await driver.confirm(script, this.#keys, args, replicas, timeout, ran).catch((error) => {
      throw this.fatal ?? refusal(error) ?? new SpaceError('UNCONFIRMED', error.message, error);
    });
    if (era !== this.era) isThere = false;
    else if (!isThere) driver.reset();
    if (isThere && confirmed >= replicas) return;
    throw new SpaceError('UNCONFIRMED', `${isThere ? confirmed : 0} of ${replicas} replicas have confirmed the grant`);
  }

  #head(sid = this.sid): string[] {
    return wire.call(sid, this.#conn, this.channel);
  }

  /**
   * Calls the script. Resolves to undefined if the session was lost meanwhile, or if the reply says that it is lost.
   */
  async run(args: wire.Arguments, sid = this.sid): Promise<unknown[] | undefined> {
    const era = this.era;
    const { driver, script } = this.around;
    const reply = await driver.run(script, this.#keys, [...this.#head(sid), ...args]);
    this.look();
    if (era !== this.era) return undefined;
    const answers: unknown[] = Array.isArray(reply) ? reply : [reply];
    const [first] = answers;
    // If even `O` is answered by STALE, the server knows a later connection of the session. Another try would not help.
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
    // A message for an earlier connection may tell of a grant that a failover has lost since.
    if (Math.floor(seq / wire.SEQS_OF_A_CONNECTION) !== this.#heardConn) return;
    // The message shows that the server has received `O`, although the answer to `O` may still be under way. So the
    // lease runs from when `O` was sent.
    if (!this.lease.isRunning) {
      this.lease.renew(this.#enteredAt);
      // If the process stood still for long, the server may already have taken back what the message grants.
      this.look();
      if (!this.lease.isRunning) return;
    }
    const isNext = seq === this.#lastSeq + 1;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    for (const entry of news) if (!this.rates.hear(entry)) this.requests.hear(entry, seq);
    if (!isNext) {
      this.compare();
      this.rates.lookAll();
    }
  }

  /** Is called when the driver did not listen for a while. The answer to a beat tells whether a message is missing. */
  missed(): void {
    if (this.isOpen) this.beats.later(0);
  }

  /**
   * Is called when a message may be lost. Asks the server for its state of all requests. Operations that were sent
   * before this call reach the server before the question.
   */
  compare(): void {
    this.#hasGap = this.#phase !== 'open';
    if (this.#hasGap) return;
    // If the session is not open, all requests are listed anyway when it is entered. A list that is made before that
    // would be out of date. But the answer to this list would set `#lastSeq`, and missed messages would count as heard.
    let isAgain = false;
    // The server was out of memory, and has done nothing. The next message or beat shows again that one is missing.
    const failed = (): void => {
      this.#lastSeq = -1;
    };
    for (const [at, [args, listed]] of this.requests.table.listings().entries()) {
      const answered = (answer: unknown): void => {
        if (wire.statesIn(answer).isWhole) this.#settle(at, listed, answer, false);
        else if (!isAgain) {
          isAgain = true;
          this.compare();
        }
      };
      this.calls.send(args, answered, failed, undefined, false);
    }
  }

  /**
   * Acts on an answer to `S`. at: which list of the comparison it answers. entered: the session is being entered.
   * isAnother: whether the data has another history.
   */
  #settle(at: number, listed: Request[], answer: unknown, entered: boolean, isAnother = false): void {
    const { place, seq, states } = wire.statesIn(answer);
    // A connection may outlive a failover. Then the answer comes from another history, and the session is entered
    // again.
    if (place === this.#epoch) {
      this.requests.settle(listed, states, seq, entered, isAnother);
      // Each list is answered in turn. Messages since the first answer may be lost too, and tell of its requests.
      if (at === 0) this.#lastSeq = Math.max(this.#lastSeq, seq);
    } else {
      soon(() => this.reconnect());
    }
  }

  // Entering --------------------------------------------------------------------------------------------------------

  /** Is called when a connection is down or new, or when the server's state is not what it was. */
  reconnect(): void {
    if (this.#phase === 'open') this.lost();
  }

  /** Is called when the operations under way may or may not arrive. Enters the session again. */
  lost(): void {
    this.era++;
    this.#heardConn = -1;
    this.requests.lost();
    this.calls.lost();
    this.rates.lost();
    this.beats.stop();
    this.enter();
  }

  /** Enters the session, unless it has ended or is being entered already. */
  enter(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'entering';
    if (this.#isTrying) return;
    this.#isTrying = true;
    void tryToEnter(this).finally(() => {
      this.#isTrying = false;
      // A loss or a request may have come between the last step of `tryToEnter` and here.
      if (this.#phase === 'entering') this.enter();
    });
  }

  /** Enters the session soon, so that `inspect` of any process lists it. Nobody waits for this. */
  show(): void {
    later(() => this.calls.operate(wire.beatAside()).catch(nothing));
  }

  /**
   * Tries once to enter. Resolves to a true value if the pauses between attempts may begin again with the shortest one.
   * answered: is called with each answer on the way, and with the time at which the question was sent.
   */
  async enterOnce(answered: (sentAt: number) => void): Promise<unknown> {
    const { clock, partitions, lease, label = ownLabel() } = this.around;
    const { era } = this;
    const isNew = this.sid === '';
    const sid = isNew ? await this.#listen(answered) : this.sid;
    // Meanwhile the space was closed, or the connection was lost.
    if (sid === undefined || era !== this.era) return undefined;
    this.#expectMessages(isNew ? 0 : this.#conn + 1);
    const listings = isNew ? [] : this.requests.table.listings();
    const seen = this.lease.seenLately?.told ?? wire.NONE;
    const args = wire.enter(partitions, lease, label, seen, this.requests.grants.lastTicket);
    if (!isNew) args.push(...(listings[0] as Listing)[0]);
    const sentAt = clock.now();
    this.#enteredAt = sentAt;
    const reply = await this.run(args, sid);
    answered(sentAt);
    if (!reply) return undefined;
    const entered = wire.enteredIn(reply[0]);
    if (entered.is === 'others') throw settingsDiffer(this.around, entered.settings);
    const { sign } = entered;
    if (entered.is === 'watch') {
      // Another process may be dead. This process must watch for a while before it can be sure of the death.
      if (isNew) this.#unused = sid;
      return sign.told === seen || this.#tell(sign, entered.lease);
    }
    this.#tell(sign);
    const before = this.#epoch;
    const silence = clock.now() - this.lease.renewedAt;
    const lists = await this.#listAll(sid, listings, reply.slice(1, 2), sentAt, answered);
    if (!lists) return undefined;
    this.#open(sid, lists.sentAt);
    if (era !== this.era) return undefined;
    this.#epoch = sign.place;
    const isAnother = before !== '' && sign.place !== before;
    this.#goOn(listings, lists.answers, isAnother, lists.sentAt);
    if (isAnother)
      void tellFailover(this.around, this.#keys[0] as string, before, silence, () => this.#phase === 'ended');
    this.rates.tellAll();
    if (!isNew) this.around.emit('resumed');
    return this.around.keepAlive();
  }

  /**
   * Resolves to the name of a new session when it listens to its channel, and to undefined if the session was closed or
   * lost meanwhile. An attempt that the server has answered by `watch` leaves its name and its channel to the next one.
   */
  async #listen(answered: (sentAt: number) => void): Promise<string | undefined> {
    const { clock, driver } = this.around;
    const { era } = this;
    const unused = this.#unused;
    this.#unused = '';
    if (unused) return unused;
    const sid = wire.newSid(driver.cluster, driver.randomDigits?.());
    void this.#stopListening?.().catch(nothing);
    this.#stopListening = undefined;
    const sentAt = clock.now();
    const stop = await driver.listen(this.channel + sid, (message) => this.#heard(message));
    answered(sentAt);
    if (era !== this.era) {
      await stop().catch(nothing);
      return undefined;
    }
    this.#stopListening = stop;
    return sid;
  }

  /** From now on, messages for this connection count, and no others. */
  #expectMessages(conn: number): void {
    this.#conn = conn;
    this.#lastSeq = conn * wire.SEQS_OF_A_CONNECTION;
    this.#heardConn = conn;
    this.#hasGap = false;
  }

  /**
   * Asks for the state of all requests in the lists, but for what `answers` has of the first list, which went with `O`.
   * Each further list goes in a call of its own, so that no call takes the server long. Each of these calls also beats.
   * Resolves to the last answer to each list, and when the last call was sent; to undefined if the session was lost.
   */
  async #listAll(
    sid: string,
    listings: readonly Listing[],
    answers: unknown[],
    enteredAt: number,
    answered: (sentAt: number) => void,
  ): Promise<{ answers: unknown[]; sentAt: number } | undefined> {
    const { clock } = this.around;
    let sentAt = enteredAt;
    for (let at = 0; at < listings.length; ) {
      if (at in answers && wire.statesIn(answers[at]).isWhole) {
        at++;
        continue;
      }
      this.lease.renew(sentAt);
      sentAt = clock.now();
      const next = await this.run([...wire.beatAside(), ...(listings[at] as Listing)[0]], sid);
      answered(sentAt);
      if (!next) return undefined;
      answers[at] = next[1];
    }
    return { answers, sentAt };
  }

  /** The server has the session, and has answered a call that was sent at this time. */
  #open(sid: string, sentAt: number): void {
    this.around.note();
    this.sid = sid;
    this.#phase = 'open';
    this.lease.renew(sentAt);
    // If the process stood still for long, the server may already have taken back what the answer grants.
    this.look();
  }

  /** Beats from now on, acts on the answers to the lists, and sends what somebody has asked for since the loss. */
  #goOn(listings: readonly Listing[], answers: readonly unknown[], isAnother: boolean, sentAt: number): void {
    const { clock, lease } = this.around;
    this.#orderBeats();
    // The operations of earlier requests go before those that somebody has asked for since the loss.
    this.calls.sendFirst(() => {
      for (const [at, [, listed]] of listings.entries()) this.#settle(at, listed, answers[at], true, isAnother);
      this.requests.askForOthers(listings.flatMap(([, listed]) => listed));
    });
    if (this.#hasGap) this.compare();
    this.calls.flush();
    // An answer that took long has used up a part of the lease.
    if (clock.now() - sentAt > lease / 8) this.beats.later(0);
    else this.beats.later();
  }

  /** Is called when the server refuses this process. While the lease runs, the session goes on trying to enter. */
  refuse(error: SpaceError | undefined): void {
    if (error && !this.lease.isRunning) this.abandon(error);
  }

  /**
   * Gives up: no server can be used. All callers hear the error. The server counts the session as dead when its lease
   * is over. A later request opens another session.
   */
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

  /** Notes a sign of life that the server has told. */
  #tell(sign: wire.Sign, lease?: number): void {
    this.requests.grants.learn(sign.ticket);
    this.lease.tell(sign, lease);
  }

  /**
   * The last sign of life that this process has watched for long enough. The sessions that have given no sign of life
   * since then are dead.
   */
  get seen(): string {
    return this.lease.seen?.told ?? wire.NONE;
  }

  /** Tells the heartbeat thread for which session to beat. Without a `sid` the thread beats no more. */
  #orderBeats(): void {
    const { sid, channel } = this;
    this.around.heartbeat?.order({ partition: this.#partition, sid, conn: this.#conn, keys: this.#keys, channel });
  }

  get watchedAt(): number {
    return this.lease.watchedAt;
  }

  look(): void {
    this.lease.look();
  }

  /** The lease is over: the process loses all that it holds. */
  #leaseIsOver(): void {
    const words = this.around.lastWords();
    this.#lose(
      `the ${words ? 'lease was not renewed' : 'server has not answered'} for ${LOST_AFTER} of the lease${words}`,
      false,
    );
    // From now on, an answer or a message may tell of a grant that the server has taken back since.
    if (this.#phase === 'open') this.lost();
    // The connection may look connected and carry nothing.
    if (!words) this.around.driver.probe(this.channel, new SilentError());
  }

  /**
   * The process loses all that it holds. forgotten: whether the server has ended the session, or this process gives the
   * session up.
   */
  #lose(why: string, forgotten: boolean): void {
    this.lease.end();
    this.requests.lose(why, forgotten);
  }

  /** Takes the reply to a beat that was sent at this time. */
  beaten([first, ...entries]: readonly unknown[], sentAt: number): void {
    this.lease.renew(sentAt);
    const { seq, isLeft, sign } = wire.beatIn(first);
    this.#tell(sign);
    // A connection may outlive a failover. Then the answer to the beat comes from another history of the data.
    if (sign.place !== this.#epoch) {
      this.lost();
      return;
    }
    for (const entry of entries.map(String)) if (!this.rates.beaten(entry, sentAt)) this.requests.hear(entry);
    if (seq !== this.#lastSeq) {
      this.compare();
      this.rates.lookAll();
    }
    if (isLeft) this.beats.later(0);
  }

  /** Forgets the session, its lease and its subscription. Answers that are under way are ignored. */
  #forget(): void {
    this.era++;
    this.sid = '';
    this.rates.lost();
    this.#orderBeats();
    this.lease.end();
    this.beats.stop();
    void this.#stopListening?.().catch(nothing);
    this.#stopListening = undefined;
    this.#unused = '';
  }

  /**
   * Ends the session for good: everything goes back at once. Resolves when the server has everything. Never rejects.
   */
  async close(error: Error): Promise<void> {
    const wasOpen = this.#phase === 'open';
    this.calls.flush();
    this.#phase = 'ended';
    this.fatal = error;
    this.rates.close(error);
    const { clock, driver, script, lease } = this.around;
    // The process must stay alive until `close` is settled. If the server does not answer, the connection is reset.
    this.calls.operating++;
    const wait = () => clock.after(Math.min(CLOSING, lease / 2), () => driver.reset(), true);
    let patience = wait();
    const end = (): Promise<unknown> => driver.run(script, this.#keys, [...head, ...wire.leave()]);
    const head = this.#head();
    let sent = wasOpen ? end() : undefined;
    this.#fail(error);
    this.#forget();
    // One call takes back only a limited part of what the session has. While the server answers that something is left,
    // `X` is sent again.
    while ([await sent?.catch(nothing)].flat()[0] === wire.LEFT) {
      clock.stop(patience);
      patience = wait();
      sent = end();
    }
    clock.stop(patience);
    this.calls.operating--;
    this.around.keepAlive();
  }
}
