/**
 * The members of a space as its broker sees them: which of them are connected, and which live.
 *
 *     connected --- its connection ends ---> asked: the broker connects to the member's own socket, m.<member>
 *                                              | refused: its process has ended, or has closed the space ---> `ended`
 *                                              | accepted: it lives, and the end of this connection asks again
 *                                              + neither shows: the broker asks again after a pause
 *
 * The end of a connection proves nothing, because the member may have dropped it. But the kernel accepts a connection
 * to the own socket of each process that lives, even if the process stands still, and of no other. The line on this
 * connection tells the member that there is a new broker: who only waits would not notice otherwise.
 *
 * `sure` is for an answer that says no, or that names a holder. A death that the kernel knew of before the call came is
 * then known here as well. For a member that is connected, or whose kernel has accepted, the end of the connection was
 * there before the call, so it is read first. All others are asked. Each of them is asked after the call has come, so
 * the answer to an earlier question does not count, unless it is that the process has ended.
 */
import { connect, type Socket } from 'node:net';
import { clock, type Timer } from '../runtime/clock.js';
import { eventsHandled } from '../runtime/ticks.js';
import type { Folder } from './generations.js';
import { lineOf } from './lines.js';
import { address } from './platform.js';

/**
 * The time after which the broker asks again, if the answer shows nothing, in milliseconds. Doubles with each such
 * answer of a member, up to the second number.
 */
const AGAIN = [50, 1600] as const;

/**
 * After so many milliseconds without an answer a member counts as living. Linux answers at once; Windows makes who
 * connects to a busy pipe wait.
 */
const MOST = 1000;

/** A member that is connected. */
export interface Listener {
  /** Tells a session of the member something. */
  tell(sid: string, text: string): void;
  /** The member has another connection. */
  end(): void;
}

/** What the members need of their broker. */
export interface MembersOf {
  /** The process of the member has ended, or has closed the space. */
  ended(member: string): void;
  /** Whether the member has a session. */
  hasSession(member: string): boolean;
  /** Keeps a socket until the broker ends. */
  keep(socket: Socket): void;
}

/** A connection to the own socket of a member. */
interface Call {
  /** The calls and the questions are numbered in one order. */
  readonly number: number;
  isAccepted: boolean;
}

interface Question {
  readonly number: number;
  /** The members that have lived since the question was asked, or of whom it cannot be found out. */
  readonly answered: Set<string>;
  isOver: boolean;
  wake(): void;
}

export class Members {
  readonly #folder: Folder;
  readonly #generation: number;
  readonly #of: MembersOf;
  readonly #connected = new Map<string, Listener>();
  readonly #calls = new Map<string, Call>();
  /** The members that are asked again after a pause. */
  readonly #again = new Map<string, Timer>();
  /** The last pauses of the members whose answers have shown nothing. */
  readonly #pauses = new Map<string, number>();
  readonly #questions = new Set<Question>();
  #number = 0;
  #isOver = false;

  constructor(folder: Folder, generation: number, of: MembersOf) {
    this.#folder = folder;
    this.#generation = generation;
    this.#of = of;
  }

  /** A member is connected from now on. */
  join(member: string, listener: Listener): void {
    this.#connected.get(member)?.end();
    this.#connected.set(member, listener);
    this.#changed();
  }

  /** The connection of a member has ended. */
  left(member: string, listener: Listener): void {
    if (this.#connected.get(member) !== listener) return;
    this.#connected.delete(member);
    this.ask(member);
  }

  tell(member: string, sid: string, text: string): void {
    this.#connected.get(member)?.tell(sid, text);
  }

  end(): void {
    this.#isOver = true;
    for (const timer of this.#again.values()) clock.stop(timer);
    this.#changed();
  }

  /** Asks whether a member lives that is not connected, and tells it of this broker. */
  ask(member: string): void {
    if (this.#isOver || this.#calls.has(member) || this.#connected.has(member)) return;
    clock.stop(this.#again.get(member));
    this.#again.delete(member);
    const socket = connect(address(this.#folder.of(`m.${member}`), member));
    const call: Call = { number: ++this.#number, isAccepted: false };
    this.#calls.set(member, call);
    this.#of.keep(socket);
    let code: string | undefined;
    const over = (): void => {
      if (this.#calls.get(member) !== call) return;
      this.#calls.delete(member);
      if (this.#isOver) return;
      if (!this.#connected.has(member)) {
        const [least, most] = AGAIN;
        const pause = call.isAccepted ? 0 : Math.min(most, 2 * (this.#pauses.get(member) ?? least / 2));
        this.#pauses.delete(member);
        if (code !== undefined && this.#folder.isOver(member, code)) this.#of.ended(member);
        // A member that has left needs no socket any more.
        else if (code !== 'ENOENT' || this.#of.hasSession(member)) this.#askAgain(member, pause);
      }
      this.#answered(member, call);
    };
    socket.on('connect', () => {
      call.isAccepted = true;
      socket.write(lineOf(this.#generation));
      this.#answered(member, call);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!call.isAccepted) code = error.code ?? '';
    });
    socket.on('end', over);
    socket.on('close', over);
    socket.resume();
  }

  #askAgain(member: string, pause: number): void {
    if (pause > 0) this.#pauses.set(member, pause);
    clock.stop(this.#again.get(member));
    this.#again.set(
      member,
      clock.after(pause, () => this.ask(member), false),
    );
  }

  /** Who asked before this call knows now what can be known of the member. */
  #answered(member: string, { number }: Call): void {
    for (const question of this.#questions) if (question.number < number) question.answered.add(member);
    this.#changed();
  }

  #changed(): void {
    for (const { wake } of this.#questions) wake();
  }

  /**
   * Resolves when each of these members has lived since this call, as far as it can be found out, or when `ended` was
   * called for it. members: they may change meanwhile.
   */
  async sure(members: () => Iterable<string>): Promise<void> {
    const question: Question = { number: ++this.#number, answered: new Set(), isOver: false, wake: () => {} };
    let timer: Timer;
    this.#questions.add(question);
    while (!this.#isOver && !question.isOver) {
      const changed = new Promise<void>((resolve) => {
        question.wake = resolve;
      });
      await eventsHandled();
      const unknown = [...members()].filter((member) => !this.#isKnown(member, question));
      if (unknown.length === 0) break;
      for (const member of unknown) this.ask(member);
      timer ??= clock.after(
        MOST,
        () => {
          question.isOver = true;
          question.wake();
        },
        true,
      );
      await changed;
    }
    clock.stop(timer);
    this.#questions.delete(question);
  }

  #isKnown(member: string, question: Question): boolean {
    return this.#connected.has(member) || this.#calls.get(member)?.isAccepted === true || question.answered.has(member);
  }
}
