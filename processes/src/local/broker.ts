/**
 * The broker of a space: it answers the calls of all members by the script of the server (state.ts).
 *
 *     listening --> gen.G is made --> reading the last journal --> serving: its own journal is complete
 *        any --> over: a later broker has taken over, its journal takes no more, or `end` is called
 *
 * All calls that one `data` event brings are run, written by one `write`, and then answered, if the broker is still
 * current (generations.ts says why). The answer to a call that only looks waits for the same check, so it tells the
 * present state. An answer that says only that a request waits goes with the next one that says more, if there soon is
 * one: so the process of the member is woken once (lines.ts).
 *
 * The member of the broker's own process needs no socket while both are in one thread: its calls are calls of `call`,
 * which writes and looks as `#serve` does.
 *
 * Deaths. members.ts finds out which members live. If the process of one has ended, or has closed the space, its
 * sessions are reaped, and whoever is next gets what they held. A new broker asks those that hold something at once,
 * because they may have died with the broker before, and others if they do not connect to it soon.
 *
 * Before an answer says no, or names who holds (doubts.ts), the broker makes sure that all who hold or wait have lived
 * since the call came. Meanwhile the later calls of the same member wait behind this one, and all others go on.
 *
 * The broker ends as if its process had died: nothing is handed over, because the next broker needs nothing but files.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { clock } from '../runtime/clock.js';
import { later } from '../runtime/ticks.js';
import { doubtIn, inDoubt, joined, split } from './doubts.js';
import { close, type Folder, type Generation, hasDied, isMember, timeOfDay } from './generations.js';
import { faultIn } from './grammar.js';
import { callLine, deathLine, grantsLine, Journal, readJournal } from './journal.js';
import { type Line, lineOf, onLines, Writer } from './lines.js';
import { type Listener, Members } from './members.js';
import { listen, random } from './platform.js';
import { type Message, type Outcome, State } from './state.js';
import { Vigil } from './vigil.js';

/**
 * How long a new broker waits for a member to connect, before it asks whether its process lives, in milliseconds: for
 * one that waits for something, and for one that has no requests.
 */
const SETTLED = { waits: 20, idle: 250 };

/** A new broker asks at once at most so many members that have no requests, and whose processes have ended. */
const ASKED_AT_ONCE = 64;
/**
 * If a new broker finds more of them than this, it removes them before its process goes on. Otherwise processes that
 * end at once would leave more and more behind, one after the other.
 */
const LEFT_BEHIND = 8;

/** What a broker tells its process. */
export interface BrokerEvents {
  /** The broker is over. error: what is wrong, if something is. */
  ended(error: unknown, broker: Broker): void;
  /** For the first time a member of another process, or of another thread, has connected. */
  joined(broker: Broker): void;
  /** Returns the largest ticket that was given before the machine was started, or 0. */
  lastTicket?(): number;
}

/** A call that waits, or one behind it. */
interface Delayed {
  /** Undefined: a ping. */
  readonly args: unknown;
  run(): void;
  /** The broker is over. */
  over(): void;
}

/** Makes the reply to a whole call of the reply to what was left of it. A line that a member has sent has no such function. */
type Whole = (reply: readonly unknown[]) => unknown[];

/** What lines of a member have done. */
interface Served {
  /** The lines of the journal that say the same. */
  written: string;
  /** What the member hears. */
  answers: string;
  /** Whether this says more than that requests wait. */
  isUrgent: boolean;
  /** What other members hear. */
  readonly messages: Message[];
  /** The lines that were not run, or only in part. */
  readonly left: Line[];
}

export class Broker {
  readonly #folder: Folder;
  readonly #generation: Generation;
  readonly #state: State;
  readonly #journal: Journal;
  readonly #server: Server;
  readonly #members: Members;
  /** The calls that wait until the broker is sure of the answer, by their members. */
  readonly #delayed = new Map<string, Delayed[]>();
  /** The members that have probably ended, until they are reaped. */
  readonly #ended = new Set<string>();
  readonly #sockets = new Set<Socket>();
  readonly #events: BrokerEvents;
  /** Whether the broker has a thread for itself, which it keeps alive. */
  readonly #hasThread: boolean;
  /** A member that was answered often calls again at once. Only a broker with a thread of its own waits awake for this. */
  readonly #vigil: Vigil | undefined;
  #isOver = false;
  /** Whether `#grantMore` comes soon. */
  #isGranting = false;
  #isShared = false;
  readonly bornAt = clock.now();

  /**
   * Takes over from a broker: listens, makes the next generation, reads the last journal, and serves. Resolves to
   * undefined if somebody else was faster. Rejects if the journal cannot be read, or its own cannot be written. All of it
   * is done at once, where the runtime listens at once: then a process of many that try is done before the others begin.
   */
  static async start(
    folder: Folder,
    before: Generation | undefined,
    member: string,
    events: BrokerEvents,
    hasThread = false,
  ): Promise<Broker | undefined> {
    if (folder.isFollowed(before)) return undefined;
    const draft = folder.draft(before, member, hasThread);
    const server = createServer();
    if (!hasThread) server.unref();
    await listen(server, folder.listensAt(draft.address));
    let generation: Generation | undefined;
    let broker: Broker | undefined;
    try {
      generation = folder.usurp(before, draft);
      if (generation) {
        broker = new Broker(folder, generation, before, server, events, hasThread);
        const ended = broker.#begin();
        if (ended.size > LEFT_BEHIND) await broker.#members.sure(() => ended);
        return broker;
      }
    } catch (error) {
      if (broker) broker.#journal.close();
      close(generation);
      server.close();
      throw error;
    }
    server.close();
    return undefined;
  }

  private constructor(
    folder: Folder,
    generation: Generation,
    before: Generation | undefined,
    server: Server,
    events: BrokerEvents,
    hasThread: boolean,
  ) {
    this.#folder = folder;
    this.#generation = generation;
    this.#server = server;
    this.#events = events;
    this.#hasThread = hasThread;
    this.#vigil = hasThread ? new Vigil() : undefined;
    // Whoever has made the generation before, or this one, has seen that nobody lives who uses another format.
    const last = readJournal(folder, generation.number, before !== undefined);
    const topmost = (): number => Math.max(events.lastTicket?.() ?? 0, last as number);
    this.#state = typeof last === 'object' ? last : State.begin(random() + random(), timeOfDay(), topmost());
    this.#journal = new Journal(folder, generation.number, this.#state);
    this.#members = new Members(folder, generation.number, {
      ended: (member) => this.#reap(member),
      hasSession: (member) => [...this.#state.members.values()].includes(member),
      keep: (socket) => this.#watch(socket),
    });
  }

  /**
   * Begins to serve: removes what earlier brokers have left, and asks which members live. Returns those that have
   * probably ended. They leave this set when their files are removed.
   */
  #begin(): ReadonlySet<string> {
    this.#server.on('connection', (socket) => this.#accept(socket));
    this.#folder.clean(this.number, new Set(this.#state.members.values()));
    const idle = new Set(this.#folder.members());
    const waits = new Set<string>();
    for (const [sid, member] of this.#state.members) {
      const needs = this.#state.needs(sid);
      if (needs === 'holds') this.#members.ask(member);
      else if (needs === 'waits') waits.add(member);
      else idle.add(member);
    }
    const callAfter = (ms: number, members: ReadonlySet<string>): void => {
      const call = (): void => {
        for (const member of members) this.#members.ask(member);
      };
      clock.after(ms, call, this.#hasThread);
    };
    // A broker may itself end soon, so it removes first what the dead have left.
    for (const member of idle) {
      if (this.#ended.size === ASKED_AT_ONCE) break;
      if (hasDied(member)) this.#ended.add(member);
    }
    for (const member of this.#ended) this.#members.ask(member);
    callAfter(SETTLED.waits, waits);
    callAfter(SETTLED.idle, idle);
    this.#grantMore();
    return this.#ended;
  }

  get number(): number {
    return this.#generation.number;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the broker. error: why, if it ends by itself. */
  end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#server.close();
    this.#members.end();
    for (const socket of this.#sockets) socket.destroy();
    for (const calls of this.#delayed.values()) for (const call of calls) call.over();
    this.#journal.close();
    close(this.#generation);
    this.#events.ended(error, this);
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    if (!this.#hasThread) socket.unref();
  }

  #accept(socket: Socket): void {
    this.#watch(socket);
    const writer = new Writer(socket);
    const listener: Listener = {
      tell: (sid, text) => writer.write(lineOf(0, sid, text)),
      end: () => socket.destroy(),
    };
    let member: string | undefined;
    onLines(socket, (read) => {
      if (this.#isOver) return;
      this.#vigil?.end();
      if (member === undefined && read.length > 0) {
        const [cookie, name] = read.shift() as Line;
        if (cookie !== this.#generation.address.cookie || !isMember(name)) {
          socket.destroy();
          return;
        }
        member = name;
        this.join(member, listener);
        writer.write(lineOf('ready'));
        if (!this.#isShared && member !== this.#generation.address.member) {
          this.#isShared = true;
          this.#events.joined(this);
        }
      }
      if (member !== undefined && read.length > 0) this.#serve(member, writer, read);
    });
    const left = (): void => {
      if (member !== undefined) this.#members.left(member, listener);
    };
    // The end is there before the socket is closed.
    socket.on('end', left);
    socket.on('close', left);
  }

  /** A member is connected from now on. */
  join(member: string, listener: Listener): void {
    this.#members.join(member, listener);
  }

  /** Runs a call of the member of this process. Returns the reply, or a promise of it. Throws if the broker is over. */
  call(member: string, args: readonly string[]): unknown {
    if (this.#isOver) throw over();
    if (this.#delayed.has(member)) return this.#callLater(member, args);
    const doubtful = doubtIn(this.#state, args);
    if (!doubtful) return this.#callNow(member, args);
    const parts = split(args, doubtful.at);
    if (!parts) return this.#callLater(member, args);
    const before = this.#callNow(member, parts[0]);
    return this.#callLater(member, parts[1]).then((after) => joined(parts, before, after));
  }

  #callLater(member: string, args: readonly string[]): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(this.#callNow(member, args));
        } catch (error) {
          reject(error);
        }
      };
      this.#delay(member, [{ args, run, over: () => reject(over()) }]);
    });
  }

  #callNow(member: string, args: readonly string[]): readonly unknown[] {
    const now = timeOfDay();
    let outcome: Outcome;
    try {
      outcome = this.#state.turn(args, member, now);
      if (!this.#write(outcome.changes ? callLine(now, member, args) : '')) throw over();
    } catch (error) {
      this.end(error);
      throw error;
    }
    this.#deliver(outcome.messages);
    this.#journal.rotate();
    this.#grantMore();
    return outcome.reply;
  }

  /** Calls of a member wait until the broker is sure of the answer to the first of them. */
  #delay(member: string, calls: readonly Delayed[]): void {
    const waiting = this.#delayed.get(member);
    if (waiting) {
      waiting.push(...calls);
      return;
    }
    const queue = [...calls];
    this.#delayed.set(member, queue);
    void this.#runDelayed(member, queue);
  }

  async #runDelayed(member: string, queue: Delayed[]): Promise<void> {
    for (let call = queue[0]; call; call = queue[0]) {
      const doubtful = faultIn(call.args) === undefined ? doubtIn(this.#state, call.args as string[]) : undefined;
      if (doubtful) await this.#members.sure(() => inDoubt(this.#state, doubtful.doubt));
      // If the member has died meanwhile, nothing of it may be run any more.
      if (this.#isOver || this.#delayed.get(member) !== queue) return;
      queue.shift();
      call.run();
    }
    if (this.#delayed.get(member) === queue) this.#delayed.delete(member);
  }

  /** Ends if it is not current any more. */
  look(): void {
    if (this.#isOver) return;
    try {
      this.#write('');
    } catch (error) {
      this.end(error);
    }
  }

  /** Runs the calls that a member has sent. Those behind a call whose answer is in doubt wait with it. */
  #serve(member: string, writer: Writer, lines: readonly Line[]): void {
    const delay = (left: readonly Line[]): void =>
      this.#delay(
        member,
        left.map((line) => ({
          ...{ args: line[1], over: () => {} },
          run: () => this.#serveNow(member, writer, [line]),
        })),
      );
    if (this.#delayed.has(member)) delay(lines);
    else this.#serveNow(member, writer, lines, delay);
  }

  /**
   * Runs lines of a member, writes what they change to the journal, and then tells those concerned.
   * @param delay is told what is left from the first operation on whose answer is in doubt. Without it, no answer is.
   */
  #serveNow(member: string, writer: Writer, lines: readonly Line[], delay?: (left: readonly Line[]) => void): void {
    let served: Served;
    try {
      served = this.#run(member, lines, delay !== undefined);
      if (!this.#write(served.written)) return;
    } catch (error) {
      this.end(error);
      return;
    }
    // The next holder hears of its turn before the last one hears that it has given back: others wait for the former.
    this.#deliver(served.messages);
    if (served.isUrgent) writer.write(served.answers);
    else if (served.answers !== '') writer.writeLater(served.answers);
    // While members wait for each other, a broker that stays awake would take a processor from them.
    if (served.isUrgent && served.messages.length === 0) this.#vigil?.begin();
    this.#journal.rotate();
    this.#grantMore();
    if (served.left.length > 0) delay?.(served.left);
  }

  /** Runs lines up to the first operation whose answer is in doubt, if answers may be. Writes and tells nothing. */
  #run(member: string, lines: readonly Line[], mayDoubt: boolean): Served {
    const now = timeOfDay();
    const served: Served = { written: '', answers: '', isUrgent: false, messages: [], left: [] };
    const answer = (isUrgent: boolean, ...line: Line): void => {
      served.isUrgent ||= isUrgent;
      served.answers += lineOf(...line);
    };
    const replyTo = (args: readonly string[]): readonly unknown[] => {
      const outcome = this.#state.turn(args, member, now);
      if (outcome.changes) served.written += callLine(now, member, args);
      served.messages.push(...outcome.messages);
      return outcome.reply;
    };
    /** Runs the operations of a call before this place. Returns the line that is left. */
    const begin = (id: unknown, call: readonly string[], doubtAt: number): Line => {
      const parts = split(call, doubtAt);
      if (!parts) return [id, call];
      const before = replyTo(parts[0]);
      const whole: Whole = (after) => joined(parts, before, after);
      return [id, parts[1], whole];
    };
    for (const [at, [id, args, whole]] of lines.entries()) {
      const fault = args === undefined ? undefined : faultIn(args);
      if (args === undefined) answer(true, id);
      else if (fault !== undefined) answer(true, id, null, `MALFORMED ${fault}`);
      else {
        const call = args as string[];
        const doubtful = mayDoubt ? doubtIn(this.#state, call) : undefined;
        if (doubtful) {
          served.left.push(begin(id, call, doubtful.at), ...lines.slice(at + 1));
          break;
        }
        const reply = replyTo(call);
        const told = typeof whole === 'function' ? (whole as Whole)(reply) : reply;
        answer(!onlyWaits(told), id, told);
      }
    }
    return served;
  }

  /**
   * A call makes a limited number of grants, so that no call takes long. The broker makes the others soon: the next beat
   * of a member may be minutes away.
   */
  #grantMore(): void {
    if (this.#isGranting || !this.#state.hasLeft) return;
    this.#isGranting = true;
    later(() => {
      this.#isGranting = false;
      if (this.#isOver) return;
      try {
        const now = timeOfDay();
        const { messages } = this.#state.goOn(now);
        if (!this.#write(grantsLine(now))) return;
        this.#deliver(messages);
      } catch (error) {
        this.end(error);
        return;
      }
      this.#journal.rotate();
      this.#grantMore();
    });
  }

  /** Writes lines to the journal (B1). Returns whether somebody may hear what they have done (B2, B3). */
  #write(lines: string): boolean {
    if (lines !== '') this.#journal.append(lines);
    if (this.#folder.isCurrent(this.#generation)) return true;
    this.end();
    return false;
  }

  #deliver(messages: readonly Message[]): void {
    for (const { sid, text } of messages) {
      const member = this.#state.members.get(sid);
      if (member !== undefined) this.#members.tell(member, sid, text);
    }
  }

  /** The process of the member has ended, or has closed the space. */
  #reap(member: string): void {
    this.#delayed.delete(member);
    try {
      for (const [sid, of] of [...this.#state.members]) {
        if (of !== member) continue;
        let outcome: Outcome;
        do {
          const now = timeOfDay();
          outcome = this.#state.reap(sid, now);
          if (!this.#write(deathLine(now, sid))) return;
          this.#deliver(outcome.messages);
        } while (outcome.isLeft);
      }
    } catch (error) {
      this.end(error);
      return;
    }
    this.#folder.removeMember(member);
    this.#ended.delete(member);
    this.#journal.rotate();
    this.#grantMore();
  }
}

/** Whether a reply says no more than that requests wait, and how many do (script/requests.lua). */
const onlyWaits = (reply: readonly unknown[]): boolean => reply.every((each) => /^Q /.test(`${each}`));

const over = (): Error => new Error('the broker has ended');
