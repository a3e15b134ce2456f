/**
 * A session is this process's lease in one partition of a space. It sends operations, hears of grants, and gives up what
 * it holds before the server may give it to others. What becomes of each request is in requests.ts.
 *
 *     closed --> entering --> open          entering: subscribed, `O` is sent; after a loss also `S`
 *       ^           ^          |            open: operations are sent, one call for each tick of the event loop
 *       |           +-- lost --+            lost: a connection is new, or the server's state is not what it was
 *       +---- idle: X ---------+
 *
 * Why nothing is lost: after a loss `S` settles what was sent for requests, and all else is sent again. A command that is
 * still under way on the old connection carries the old `conn`, and does nothing.
 *
 * Why nobody works on with permits that are another's: the server takes permits back when a process has watched for 0.75 of
 * a lease, by its own monotonic clock, that no beat came; turn.lua has the argument. The process that holds counts from
 * when it sent the last beat that was answered, and gives up after 0.7 leases.
 */
import type { Timer } from './clock.js';
import type { StopListening } from './drivers/driver.js';
import { asError } from './drivers/link.js';
import { SpaceError } from './errors.js';
import type { Durability } from './options.js';
import type { Request } from './request.js';
import { type Line, type Listing, type Operation, Requests } from './requests.js';
import { refusal } from './server-error.js';
import type { Surroundings } from './surroundings.js';
import { eventsHandled, later, soon } from './ticks.js';
import { TURN } from './turn-source.js';

/** Arguments of the operations in one call, so that no call takes the server long. */
const MOST_ARGUMENTS = 320;

/** The part of a lease without an answered beat after which all that is held is lost. */
const LOST_AFTER = 0.7;

/** The part of a lease in which a session must have been silent, as the process has lived through it, to be dead. */
const DEAD_AFTER = 0.75;

/** The number of messages that a connection can have; see turn.lua. */
const SEQS_OF_A_CONNECTION = 2 ** 32;

/** The version of the keys and the script. */
const VERSION = '2';

/** How long the server may take to hear of the end, in milliseconds. Else it takes all back when the lease has ended. */
const CLOSING = 1000;

const SILENT = new Error('the server does not answer');

type Phase = 'closed' | 'entering' | 'open' | 'ended';

const nothing = (): void => {};

export class Session implements Line {
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
  /** Tickets that the server has told, and when each is old enough to tell who is dead. */
  #told: { readonly ticket: string; readonly due: number }[] = [];
  /** Changes with each loss. Answers to calls of an earlier era are ignored. */
  #era = 0;
  #stopListening: StopListening | undefined;
  /** Whether the session is being entered: `#enter` loops. */
  #isEntering = false;
  #batch: Operation[] = [];
  /** The calls of `operate` that are not answered. */
  #operating = 0;
  #scheduled: typeof soon | undefined;
  #deadline = Infinity;
  /** When the last call was sent that renewed the lease. */
  #renewedAt = 0;
  /** When the last `O` was sent. */
  #enteredAt = 0;
  #deadlineTimer: Timer;
  #beatTimer: Timer;
  /** When the beat was sent that is not answered by each connection, and by how many. */
  #owedSince = 0;
  #owed = 0;
  fatal: Error | undefined;

  constructor(around: Surroundings, partition: number) {
    this.around = around;
    this.requests = new Requests(this);
    this.#partition = partition;
    const tag = `tt:{${around.space}.${partition}}:`;
    this.#keys = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map((key) => tag + key);
    this.#channel = `${tag}c:`;
  }

  /** Whether the process must stay alive for it. */
  get isNeeded(): boolean {
    return this.requests.size > 0 || this.#batch.length > 0 || this.#operating > 0;
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  get place(): string {
    return `${this.sid}.${this.#epoch}`;
  }

  // Calls -----------------------------------------------------------------------------------------------------------

  /**
   * Sends an operation that belongs to no request, and resolves to its answer. After a loss it is sent again, until the
   * time is over that a server may take.
   */
  operate(args: readonly string[]): Promise<unknown> {
    if (this.fatal) return Promise.reject(this.fatal);
    this.#operating++;
    this.around.keepAlive();
    let patience: Timer;
    return new Promise((resolve, reject) => {
      const operation = this.send(args, resolve, reject);
      patience = this.unanswered((error) => {
        operation.withdrawn = true;
        this.#batch = this.#batch.filter((each) => each !== operation);
        reject(error);
      });
      if (this.#phase !== 'open') this.enter();
    }).finally(() => {
      this.around.clock.stop(patience);
      this.#operating--;
      this.around.keepAlive();
    });
  }

  /** Calls `late` when no answer has come for `connectTimeout`. What has come while the process was busy counts. */
  unanswered(late: (error: Error) => void): Timer {
    const { clock, connectTimeout } = this.around;
    const look = (): void => {
      // The answer was that it must watch.
      if (this.sid === '' && clock.now() < (this.#told.at(-1)?.due ?? 0)) clock.after(connectTimeout, look, false);
      else void eventsHandled().then(() => late(this.around.unanswered()));
    };
    return clock.after(connectTimeout, look, true);
  }

  /** Resolves when enough replicas have confirmed all that this process was granted so far. */
  async confirm({ replicas, timeout }: Durability): Promise<void> {
    const { driver } = this.around;
    const era = this.#era;
    // The reply is not read for grants, so they are to come by message.
    const args = [...this.#head(), 'W', '-'];
    const confirmed = await driver.confirm(TURN, this.#keys, args, replicas, timeout).catch((error) => {
      throw refusal(error) ?? error;
    });
    if (confirmed >= replicas && era === this.#era) return;
    throw new SpaceError('UNCONFIRMED', `${confirmed} of ${replicas} replicas have confirmed the grant`);
  }

  send(
    args: readonly string[],
    answered: (answer: unknown) => void,
    failed?: (error: unknown) => void,
    request?: Request,
    repeats = request === undefined,
  ): Operation {
    const operation = { args, answered, failed, request, repeats, withdrawn: false };
    this.#batch.push(operation);
    // Time-outs that expire at once go in one call.
    if (this.#phase === 'open') this.#schedule(args[0] === 'C' ? later : soon);
    return operation;
  }

  #schedule(when = soon): void {
    if (this.#scheduled === soon || this.#scheduled === when) return;
    this.#scheduled = when;
    when(() => {
      this.#scheduled = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#phase === 'open' && this.#batch.length > 0) {
      let [count, left] = [0, MOST_ARGUMENTS];
      for (const { args } of this.#batch) {
        left -= args.length;
        // The opening of an ephemeral object goes in one call with the request: the server forgets what is idle after a call.
        if (left < 0 && count > 0 && this.#batch[count - 1]?.args[0] !== 'N') break;
        count++;
      }
      const operations = this.#batch.splice(0, count).filter((operation) => !operation.withdrawn);
      if (operations.length > 0) this.#call(operations);
    }
  }

  #call(operations: Operation[]): void {
    const era = this.#era;
    const args = this.#head();
    for (const { args: more, request } of operations) {
      for (const each of more) args.push(each);
      if (request) request.unsent = undefined;
    }
    this.#run(args).then(
      (reply) => {
        if (!reply) return this.#again(operations);
        for (let i = 0; i < operations.length; i++) (operations[i] as Operation).answered(reply[i]);
        for (const entry of reply.slice(operations.length)) {
          // Grants are left.
          if (entry === '+') this.#beatLater(true);
          else this.requests.hear(String(entry));
        }
      },
      (error) => {
        const refused = refusal(error);
        const kept = operations.filter(({ failed }) => !failed);
        if (refused?.code === 'OOM' && era === this.#era && kept.length < operations.length) {
          // The first write was refused, so nothing of the call was done, and the session is what it was.
          this.requests.lost();
          for (const { failed } of operations) failed?.(refused);
          this.#batch.unshift(...kept);
          return this.#schedule();
        }
        if (!refused) this.#again(operations);
        else if (operations.some(({ failed }) => failed)) for (const { failed } of operations) failed?.(refused);
        else this.around.emit('error', refused);
        if (era === this.#era) this.#lost();
      },
    );
  }

  /** Operations that no `S` settles are sent again. */
  #again(operations: Operation[]): void {
    if (this.fatal) {
      for (const { failed } of operations) failed?.(this.fatal);
      return;
    }
    this.#batch.unshift(...operations.filter(({ repeats, withdrawn }) => repeats && !withdrawn));
    if (this.#phase === 'open') this.#schedule();
    else if (this.#batch.length > 0) this.enter();
  }

  #head(sid = this.sid): string[] {
    return [sid, String(this.#conn), this.#channel];
  }

  /** Calls the script. Resolves to nothing if the session was lost meanwhile, or is lost as the reply says. */
  async #run(args: readonly string[]): Promise<unknown[] | undefined> {
    const era = this.#era;
    const reply = await this.around.driver.run(TURN, this.#keys, args);
    this.look();
    if (era !== this.#era) return undefined;
    const answers: unknown[] = Array.isArray(reply) ? reply : [reply];
    const [first] = answers;
    // To `O` it is the answer that the server has heard of a later connection: it is no use to go on with this session.
    const isDead = first === 'DEAD' || (first === 'STALE' && this.#phase === 'entering');
    if (!isDead && first !== 'STALE') return answers;
    if (isDead) {
      this.sid = '';
      this.#lose('the server has ended the session', true);
    }
    this.#lost();
    return undefined;
  }

  // Messages --------------------------------------------------------------------------------------------------------

  #heard(message: string): void {
    this.look();
    const at = message.indexOf(';');
    const seq = Number(message.slice(0, at));
    // A message for an earlier connection may tell of what a failover has lost.
    if (Math.floor(seq / SEQS_OF_A_CONNECTION) !== this.#heardConn) return;
    // `O` has come to the server, or there was no such message. Its answer may be under way still.
    if (this.#deadline === Infinity) {
      this.#answeredAt(this.#enteredAt);
      // The process may have stood still for so long that the server has taken back what the message grants.
      this.look();
      if (this.#deadline === Infinity) return;
    }
    const isNext = seq === this.#lastSeq + 1;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    for (const entry of message.slice(at + 1).split(',')) this.requests.hear(entry, seq);
    if (!isNext) this.compare();
  }

  /** A message may be lost. Asks the server for its state of all requests; all that was sent before has arrived then. */
  compare(): void {
    this.#hasGap = this.#phase !== 'open';
    if (this.#hasGap) return;
    // Entering lists all requests anew. A list from before would take the numbers of messages as seen that it misses.
    for (const [args, listed] of this.requests.listings())
      this.send(args, (answer) => this.#settle(listed, answer, false), nothing, undefined, false);
  }

  #settle(listed: Request[], answer: unknown, entered: boolean, isAnother = false): void {
    const answers = answer as [string, ...string[]];
    // The connection may have outlived a failover.
    if (answers[0].endsWith(this.#epoch)) {
      const seq = this.requests.settle(listed, answers, entered, isAnother);
      this.#lastSeq = Math.max(this.#lastSeq, seq);
    } else {
      soon(() => this.reconnect());
    }
  }

  // Entering --------------------------------------------------------------------------------------------------------

  /** A connection is down, or new; or the server's state is not what it was. */
  reconnect(): void {
    if (this.#phase === 'open') this.#lost();
  }

  /** What is under way may or may not arrive. Enters again. */
  #lost(): void {
    this.#era++;
    this.#heardConn = -1;
    this.requests.lost();
    this.#batch = this.#batch.filter(({ repeats }) => repeats);
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
      const era = this.#era;
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
      if (this.#phase === 'entering' && era === this.#era) await this.#wait(Math.min(1000, 10 * 2 ** attempt));
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.around.clock.after(ms * (0.5 + Math.random() / 2), resolve, this.isNeeded));
  }

  /** Resolves to whether it is of use to try again soon. */
  async #enterOnce(patience: () => void): Promise<unknown> {
    const { clock, driver, lease, partitions, label } = this.around;
    const { requests } = this;
    const era = this.#era;
    const isNew = this.sid === '';
    const sid = isNew ? (driver.cluster ? 's' : 'p') + randomDigits(15) : this.sid;
    if (isNew) {
      await this.#stopListening?.().catch(nothing);
      this.#stopListening = undefined;
      const stop = await driver.listen(this.#channel + sid, (message) => this.#heard(message));
      // The space was closed meanwhile, or the connection was lost.
      if (era !== this.#era) return stop().catch(nothing);
      this.#stopListening = stop;
      this.#conn = 0;
    } else {
      this.#conn++;
    }
    this.#lastSeq = this.#conn * SEQS_OF_A_CONNECTION;
    this.#heardConn = this.#conn;
    this.#hasGap = false;
    const listings = isNew ? [] : requests.listings();
    const seen = this.#seen();
    const args = [
      ...this.#head(sid),
      'O',
      VERSION,
      String(partitions),
      String(lease),
      label,
      seen,
      requests.lastTicket,
    ];
    if (!isNew) args.push(...(listings[0] as Listing)[0]);
    let sentAt = clock.now();
    this.#enteredAt = sentAt;
    const reply = await this.#run(args);
    if (!reply) return undefined;
    const [kind, ...words] = String(reply[0]).split(' ');
    if (kind === 'V') throw this.#settingsDiffer(words);
    // Somebody may be dead, and the process must watch before that is sure.
    const told = words.slice(-2).join(' ');
    if (kind === 'Z') return told === seen || this.#tell(told, Number(words[0]));
    this.#tell(told);
    const [, epoch = ''] = words;
    const before = this.#epoch;
    const isAnother = before !== '' && epoch !== before;
    const silence = clock.now() - this.#renewedAt;
    const answers = reply.slice(1, 2);
    // No call takes the server long. Each beats, too.
    for (let at = 0; at < listings.length; ) {
      if (String(answers[at]).startsWith('S')) {
        at++;
        continue;
      }
      this.#answeredAt(sentAt);
      patience();
      sentAt = clock.now();
      const next = await this.#run([...this.#head(sid), 'W', '-', ...(listings[at] as Listing)[0]]);
      if (!next) return undefined;
      answers[at] = next[1];
    }
    this.around.note();
    this.sid = sid;
    this.#phase = 'open';
    this.#answeredAt(sentAt);
    // The process may have stood still for so long that the server has taken back what the answer grants.
    this.look();
    if (era !== this.#era) return undefined;
    this.#epoch = epoch;
    this.#orderBeats();
    // What was asked for meanwhile comes after what was asked for before.
    const others = this.#batch;
    this.#batch = [];
    for (const [at, [, listed]] of listings.entries()) this.#settle(listed, answers[at], true, isAnother);
    requests.askForOthers(listings.flatMap(([, listed]) => listed));
    this.#batch.push(...others);
    if (this.#hasGap) this.compare();
    this.#flush();
    this.#beatLater();
    if (isAnother) void this.#tellFailover(before, silence);
    if (!isNew) this.around.emit('resumed');
    return this.around.keepAlive();
  }

  /**
   * Tells that the data have another history, unless a slot of a cluster has moved: then the server has run all the time,
   * and was no replica of the one before. silence: how long ago that one was last heard of.
   */
  async #tellFailover(before: string, silence: number): Promise<void> {
    const { driver, whenConnected } = this.around;
    const ask = async (): Promise<Map<string, string> | undefined> => {
      await whenConnected();
      // The next slot may move already.
      const again = () => (this.#phase === 'ended' ? undefined : this.#wait(10).then(ask));
      return driver.info(this.#keys[0] as string, 'default').catch(again);
    };
    const info = driver.cluster ? await ask().catch(nothing) : undefined;
    const hasRunOn = Number(info?.get('uptime_in_seconds')) * 1000 > silence;
    if (!hasRunOn || before.endsWith(`.${info?.get('master_replid2')}`)) this.around.emit('failover');
  }

  #settingsDiffer(theirs: readonly string[]): SpaceError {
    const { space, partitions, lease } = this.around;
    const [has, asks] = [theirs, [VERSION, partitions, lease]].map(
      (words) => `version ${words[0]}, ${words[1]} partitions and a lease of ${words[2]} ms`,
    );
    return new SpaceError(
      'SETTINGS',
      `the space ${JSON.stringify(space)} has ${has}, and this process asks for ${asks}`,
    );
  }

  /** The server refuses this process. As long as there is a lease, that may change before the lease ends. */
  refuse(error: SpaceError | undefined): void {
    if (error && this.#deadline === Infinity) this.abandon(error);
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
    const operations = this.#batch.splice(0);
    this.requests.fail(error);
    for (const { failed } of operations) failed?.(error);
  }

  // The lease -------------------------------------------------------------------------------------------------------

  #answeredAt(sentAt: number): void {
    this.#renewedAt = sentAt;
    this.#deadline = sentAt + LOST_AFTER * this.around.lease;
    this.#lookAtDeadline();
  }

  #lookAtDeadline(): void {
    const { clock } = this.around;
    clock.stop(this.#deadlineTimer);
    if (this.#deadline === Infinity) return;
    const look = (): void => {
      this.look();
      // A timer of Node may be early.
      this.#lookAtDeadline();
    };
    this.#deadlineTimer = clock.after(Math.max(1, this.#deadline - clock.now()), look, false);
  }

  #tell(ticket: string, lease = this.around.lease): void {
    this.requests.learn(ticket.slice(0, 14));
    this.#told.push({ ticket, due: this.around.clock.now() + DEAD_AFTER * lease });
  }

  /** The last ticket that is old enough: who has not beaten since is dead. */
  #seen(): string {
    const [first, second] = this.#told;
    const now = this.around.clock.now();
    if (second && second.due <= now) {
      this.#told.shift();
      return this.#seen();
    }
    return first && first.due <= now ? first.ticket : '-';
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
    if (now < this.#deadline) return;
    const beatenAt = heartbeat?.lastOf(this.#partition) ?? 0;
    if (beatenAt + LOST_AFTER * lease > now) {
      this.#answeredAt(beatenAt);
      return;
    }
    this.#deadline = Infinity;
    const words = this.around.lastWords();
    this.#lose(
      `the ${words ? 'lease was not renewed' : 'server has not answered'} for 0.7 of the lease${words}`,
      false,
    );
    // An answer or a message that comes now may be older than what the server has taken back since.
    if (this.#phase === 'open') this.#lost();
    // The connection may stand and carry nothing.
    if (!words) this.around.driver.reset(SILENT);
  }

  /** All that is held is lost. forgotten: the server has taken it back. */
  #lose(why: string, forgotten: boolean): void {
    this.#deadline = Infinity;
    this.requests.lose(why, forgotten);
  }

  #beatLater(soonest = false): void {
    const { clock, lease } = this.around;
    clock.stop(this.#beatTimer);
    const ms = soonest ? 0 : (lease / 4) * (0.8 + 0.2 * Math.random());
    this.#beatTimer = clock.after(ms, () => this.#beat(), false);
  }

  async #beat(): Promise<void> {
    // What has come while the process was busy counts.
    if (this.#owed > 0) await eventsHandled();
    if (this.#phase !== 'open') return;
    const { clock, lease, driver } = this.around;
    const sentAt = clock.now();
    if (!this.isNeeded && sentAt - this.requests.usedAt > lease) {
      this.#leave();
      return;
    }
    this.#beatLater();
    // A connection may stand and carry nothing. With a short lease a busy machine would look so too.
    if (this.#owed > 0 && sentAt - this.#owedSince > Math.max(250, lease / 6)) return driver.reset(SILENT);
    const era = this.#era;
    const isFirst = this.#owed === 0;
    const answered = (): void => {
      if (isFirst && era === this.#era) this.#owed--;
    };
    if (isFirst) {
      this.#owedSince = sentAt;
      this.#owed = driver.ping ? 2 : 1;
      // Also a refusal is an answer.
      driver.ping?.(this.#channel).then(answered, answered);
    }
    this.#run([...this.#head(), 'B', this.#seen(), ...this.requests.marks()]).then(
      (reply) => {
        if (!reply) return;
        answered();
        this.#answeredAt(sentAt);
        const [first, ...entries] = reply.map(String) as [string, ...string[]];
        const [, seq, left, ...told] = first.split(' ');
        this.#tell(told.join(' '));
        // The connection may have outlived a failover.
        if (!first.endsWith(this.#epoch)) return this.#lost();
        for (const entry of entries) this.requests.hear(entry);
        if (Number(seq) !== this.#lastSeq) this.compare();
        if (left === '1') this.#beatLater(true);
      },
      () => {
        if (era === this.#era) this.#lost();
      },
    );
  }

  /** Nobody holds or waits: the session ends, and the next request opens another. */
  #leave(): void {
    this.#run([...this.#head(), 'X']).catch(nothing);
    this.#forget();
    this.#phase = 'closed';
  }

  #forget(): void {
    const { clock } = this.around;
    this.#era++;
    this.sid = '';
    this.#orderBeats();
    this.#deadline = Infinity;
    clock.stop(this.#deadlineTimer);
    clock.stop(this.#beatTimer);
    void this.#stopListening?.().catch(nothing);
    this.#stopListening = undefined;
  }

  /** The space is closed: everything goes back at once. Resolves when the server has it, and never rejects. */
  async close(error: Error): Promise<void> {
    const wasOpen = this.#phase === 'open';
    this.#flush();
    this.#phase = 'ended';
    this.fatal = error;
    const { clock, driver, lease } = this.around;
    // Who waits for the close must be told of its end, also by a server that does not answer.
    this.#operating++;
    const patience = clock.after(Math.min(CLOSING, lease / 2), () => driver.reset(), true);
    const end = (): Promise<unknown> => driver.run(TURN, this.#keys, [...head, 'X']);
    const head = this.#head();
    let sent = wasOpen ? end() : undefined;
    this.#fail(error);
    this.#forget();
    // No call takes the server long: it answers that something is left.
    while (String(await sent?.catch(nothing)) === '+') sent = end();
    clock.stop(patience);
    this.#operating--;
    this.around.keepAlive();
  }
}

function randomDigits(count: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(count));
  return Array.from(bytes, (byte) => (byte & 15).toString(16)).join('');
}
