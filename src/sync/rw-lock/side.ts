/**
 * A side is what one thread does with one lock. All library objects and promises of the thread share the side of the
 * lock, whichever copy of the library made them. The core knows only a part of the side: the thread's seat says
 * whether the thread reads or waits to read, and the queue says whether the thread has the turn. The side counts how
 * often the thread reads. So a thread that reads can read again without access to shared memory, but for a call that
 * only tries: that call is refused if the gate is shut.
 *
 * A side consists of two state machines, reading and the turn. The methods of this class move a machine from one state
 * to another. `reads` counts the calls and promises that read now. `waits` counts the promises that wait for the end of
 * a phase.
 *
 *     reading    idle            reads                  waits                  both
 *                                reads > 0              waits > 0              reads > 0, waits > 0
 *
 *              begun                wait
 *     idle ───────────► reads ─────────────────► both
 *     │  ▲ ◄─────────── ▲   ▲ ◄───────────────── │
 *     │  │    endRead   │      leave, endWait    │ endRead
 *     │  │              │                        │
 *     │  │ leave        │ endWait                │
 *     │  └─────────── waits ◄────────────────────┘
 *     └─────────────►
 *           wait
 *
 *     the turn   NO_TURN         HAS_TURN               DRAINS                 WRITES
 *                                updates, or is about   has shut the gate      alone
 *                                to drain               until readers leave
 *
 *              takeTurn            shut             drained, ADMITTED
 *     NO_TURN ─────────► HAS_TURN ──────► DRAINS ──────────────────────► WRITES
 *      ▲  ▲               │    ▲            │                              │
 *      │  └───────────────┘    └────────────┘                              │
 *      │       endTurn           drained, else                             │ endTurn
 *      └───────────────────────────────────────────────────────────────────┘
 *
 * From WRITES, `openOn` leads back to HAS_TURN: the thread has written, and keeps the turn.
 *
 * A thread that writes goes on as a reader by `readOn` and `endTurn`. A thread that updates goes on as a reader by
 * `begun` and `endTurn`. In both cases no writer comes between the two calls.
 *
 * A thread that drains or writes would wait for itself if it also read or waited. So the calls refuse both, except for
 * promises: a promise may drain while its thread reads, and waits until the thread has unlocked.
 *
 * A call changes a machine in the core first, and then here. An exception may come between the two
 * (runtime/interrupts.ts). So a call does both in a section, which notes first which machines the call changes, and
 * what remains if the section fails:
 *
 *     call        checks ──► open ──► changes in the core and here ──► close ──► answer
 *                              │
 *     it fails                 └──► recover: what the thread had before the section
 *     it is cut                └ ─ ─ the next call, or the next iteration of the event loop ─ ─► recover
 *
 * A call says once, by `open`, what it is about. `RwLock.#section` is the frame around a section: it opens, closes, and
 * recovers if the section throws. The three sections of calls that may be over in 100 nanoseconds write the same frame
 * out (`#beginReading`, `#lockWriting`, `#tryLockWriting`). A call that ends something needs no frame, because
 * `recover` ends what such a section has begun: `endRead`, `endTurn`, `openOn`. `lockRead` has no frame if it finds
 * nothing in its way: if its section fails, the next call recovers.
 *
 * If the section is cut, its caller does not get what the section has taken, nor what a guard has passed on to it. So
 * nothing of it remains. If the section throws, the guard takes back what it has passed on (`remains`).
 *
 * No callback of the user runs in a section. A promise that gets the turn while a section is open has been told of it.
 * From then on the section says no more about the turn (`tell`).
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  type CANCELLED,
  CLOSED_OBJECT,
  MOVE,
  NO_STAMP,
  OWNER_DIED,
  type QUEUED,
} from '../../border/numbers.js';
import type { Sync } from '../../border/sync.js';
import type { Reference } from '../../objects/reference.js';
import { common } from '../../runtime/common.js';
import { ArenaFullError } from '../../runtime/errors.js';
import type { Membership, Shared } from '../../runtime/membership.js';
import { syncOf } from '../compiled.js';
import type { GuardedLock } from '../held-rw.js';

// The states of the turn.
export const NO_TURN = 0;
export const HAS_TURN = 1;
export const DRAINS = 2;
export const WRITES = 3;
export type Turn = typeof NO_TURN | typeof HAS_TURN | typeof DRAINS | typeof WRITES;

// The values of `acts`: which machines a section changes. READING and TURNING are bits, so a section may change both.
export const NOTHING = 0;
export const READING = 1;
export const TURNING = 2;

/** How `Side.begin` answers. REFUSED: the call only tries. */
type Begun = Exclude<ReturnType<Sync['beginRead' | 'tryRead']>, MOVE>;

/** How a wait of the writer for the readers has ended. CANCELLED: the call has given up. */
export type Drained = ADMITTED | ANSWER_CLOSED | CANCELLED;

export class Side {
  /**
   * The address of the lock. It is CLOSED_OBJECT once a library object of this thread has found the lock disposed of.
   */
  at: number;
  /** The address of the seat of the thread; 0 if the thread has no seat, as at first and at the end. */
  seat: number;
  /**
   * reads: how many calls and promises of the thread read. waits: how many of its promises wait for the end of `phase`.
   */
  reads = 0;
  waits = 0;
  phase = 0;
  /**
   * died: whether a writer had died when the thread began to read. told: whether a call of the thread has been told of
   * this death.
   */
  died = false;
  told = false;
  turn: Turn = NO_TURN;
  /**
   * What the open section changes: NOTHING if no section is open, READING, TURNING, or READING | TURNING. Only the
   * methods of this class set it.
   */
  acts = NOTHING;
  /** What remains of `reads` if the open section fails or is cut: the readings that callers have been told of. */
  #kept = 0;
  /** What remains of the turn, once the open section has failed. */
  #remains: Turn = NO_TURN;
  /** The number of deaths that the thread has learned of with the turn and has not told its callback. */
  deaths = 0;
  /**
   * The library object by which the thread has locked. This field keeps the object, and so the attachment, from being
   * collected while the thread has the lock: the thread may unlock by another object of the same handle or name.
   */
  keeps: object | undefined;
  /**
   * These two functions of the core have fields of their own, because the common case calls them. If the seat is 0,
   * beginRead answers MOVE.
   */
  readonly beginRead: Sync['beginRead'];
  readonly endReadAt: Sync['endRead'];
  readonly #sync: Sync;
  readonly #membership: Membership;
  readonly #shared: Shared;

  constructor({ address, membership, shared }: Reference) {
    this.#membership = membership;
    this.#shared = shared;
    this.#sync = syncOf(membership);
    this.beginRead = this.#sync.beginRead;
    this.endReadAt = this.#sync.endRead;
    this.at = address;
    this.seat = this.#sync.seatFor(address);
  }

  /** Whether promises of the thread wait for the turn, or have the turn and do not know it yet. */
  get isQueued(): boolean {
    return this.#shared.promises.waits;
  }

  /** Whether the thread has or wants the lock. */
  get isBusy(): boolean {
    return this.reads > 0 || this.waits > 0 || this.turn !== NO_TURN || this.isQueued;
  }

  /** Keeps the library object if the thread has the lock, and otherwise lets go of it. */
  keep(lock: object): void {
    this.keeps = this.reads > 0 || this.turn !== NO_TURN ? lock : undefined;
  }

  // --- Sections --------------------------------------------------------------------------------------------

  /**
   * Opens a section that changes these machines. No section is open, but that of a `lockRead` that goes on here.
   * Returns the turn before it.
   */
  open(machines: number): Turn {
    this.acts = machines;
    this.#kept = this.reads;
    return this.turn;
  }

  /** Closes the section: its caller has what it has taken. Returns the result. */
  close<T>(result: T): T {
    this.acts = NOTHING;
    return result;
  }

  /** A promise has been told that it has the turn. So no section may give this turn back. */
  tell(): void {
    this.acts &= ~TURNING;
  }

  /**
   * The open section has thrown, and its caller still has the turn that it had before. But what has begun to go back
   * goes back.
   */
  fail(before: Turn): void {
    if (this.turn !== NO_TURN) this.#remains = before;
  }

  /**
   * Brings the side into order after the open section has failed or was cut. The thread keeps nothing that this section
   * was about to get. Returns whether the thread has a turn that it must not keep. If so, the caller must give the turn
   * back.
   */
  recover(): boolean {
    const { acts } = this;
    if (acts & READING) this.#recoverReading();
    const givesBack = (acts & TURNING) !== 0 && this.#recoverTurn();
    this.#remains = NO_TURN;
    return givesBack;
  }

  /** The seat must say again what the thread reads and waits for. */
  #recoverReading(): void {
    const { at } = this;
    this.reads = this.#kept;
    const seat = at === CLOSED_OBJECT ? 0 : this.#sync.seatFor(at);
    if (seat === 0) return;
    this.seat = seat;
    if (this.reads === 0) this.#sync.endRead(at, seat);
    if (this.waits === 0) this.#sync.giveUpRead(at, seat);
  }

  #recoverTurn(): boolean {
    const { at } = this;
    const remains = this.#remains;
    // A promise that has the turn and does not know it yet keeps the turn. A writer that has changed nothing writes on.
    if (this.turn === NO_TURN ? this.isQueued : this.turn === WRITES && remains === WRITES) return false;
    const hasTurn = at !== CLOSED_OBJECT && this.#membership.core.held(this.#shared.attachment) > 0;
    // No other thread shuts the gate, because this thread has the turn.
    if (hasTurn && isGateShut(this.#sync, at)) this.#sync.openGate(at, true);
    this.turn = hasTurn ? HAS_TURN : NO_TURN;
    return hasTurn && (remains === NO_TURN || remains === WRITES);
  }

  // --- Reading ---------------------------------------------------------------------------------------------

  /**
   * Begins to read. After ADMITTED or OWNER_DIED the caller must call `begun`. After QUEUED the thread waits. Throws if
   * the thread reads too many locks.
   * @param answer the answer of beginRead, if the caller has called it.
   */
  begin(tries: false): Exclude<ReturnType<Sync['beginRead']>, MOVE>;
  begin(tries: boolean, answer?: ReturnType<Sync['beginRead']>): Begun;
  begin(tries: boolean, answer?: ReturnType<Sync['beginRead']>): Begun {
    const begin = tries ? this.#sync.tryRead : this.beginRead;
    let result: Begun | MOVE = answer ?? begin(this.at, this.seat);
    while (result === MOVE) {
      this.findSeat();
      result = begin(this.at, this.seat);
    }
    return result;
  }

  /** Finds the thread's seat for the lock, or a free seat. Throws if the thread reads too many locks. */
  findSeat(): void {
    let seat = this.#sync.seatFor(this.at);
    if (seat === 0) {
      // Locks that other threads have disposed of still have their seats.
      this.#membership.sweep();
      seat = this.#sync.seatFor(this.at);
    }
    if (seat === 0) throw new ArenaFullError('this thread reads 8 RwLocks, and no thread reads more: unlock one');
    this.seat = seat;
  }

  /** One more call or promise reads. */
  begun(died: boolean, lock: object): void {
    if (this.reads++ === 0) this.told = false;
    this.keeps = lock;
    this.died = died;
  }

  /** A promise of a thread that already reads begins to read too, or to wait. Answers as `begin`. */
  readToo(): ReturnType<Sync['readToo']> {
    return this.#sync.readToo(this.at, this.seat);
  }

  /** The first promise of the thread begins to wait for the end of the phase. */
  wait(phase: number): void {
    this.phase = phase;
    this.waits = 1;
  }

  /** A call or promise has given up. If no promise waits any more, the seat says so from now on. */
  leave(): void {
    if (this.waits === 0 && this.seat !== 0) this.#sync.giveUpRead(this.at, this.seat);
  }

  /**
   * The phase is over for whose end the thread has waited. The waiting promises read from now on. Returns whether a
   * writer has died.
   */
  endWait(): boolean {
    this.died = this.seat !== 0 && this.#sync.endReadWait(this.at, this.seat) === OWNER_DIED;
    if (this.reads === 0) this.told = false;
    this.reads += this.waits;
    this.#kept += this.waits;
    this.waits = 0;
    return this.died;
  }

  /** Ends the last reading. No section is open. */
  endRead(): void {
    this.open(READING);
    this.#kept = this.reads = 0;
    if (this.turn === NO_TURN) this.keeps = undefined;
    if (this.seat !== 0) this.endReadAt(this.at, this.seat);
    this.close(undefined);
  }

  /**
   * The thread writes, and from now on reads too. If promises of the thread wait for the end of this phase, the thread
   * has a seat already.
   */
  readOn(): void {
    if (this.waits === 0 || this.seat === 0) this.findSeat();
    this.#sync.endReadWait(this.at, this.seat);
    this.reads = 1;
    this.died = false;
  }

  // --- The turn --------------------------------------------------------------------------------------------

  /** The thread has just got the turn. */
  takeTurn(lock: object): void {
    this.turn = HAS_TURN;
    this.keeps = lock;
  }

  /** Shuts the gate. Answers ADMITTED or QUEUED, and then the caller must call `drained`; or answers ANSWER_CLOSED. */
  shut(): ReturnType<Sync['shutGate']> {
    const answer = this.#sync.shutGate(this.at);
    if (answer !== ANSWER_CLOSED) this.turn = DRAINS;
    return answer;
  }

  /**
   * The wait for the readers has ended with this answer. If the readers have not left, opens the gate again.
   * QUEUED: the caller has not waited.
   */
  drained(answer: Drained | QUEUED): void {
    if (answer === ADMITTED) this.turn = WRITES;
    else if (this.turn === DRAINS) {
      this.#openGate(true);
      this.turn = HAS_TURN;
    }
  }

  /**
   * Opens the gate, if the thread has shut it, and gives the turn back. A section that goes on as a reader is open, or
   * none.
   * @param keepsDied whether the gate keeps its mark that a writer has died: the thread has not written.
   */
  endTurn(lock: object, semaphore: { release(): void }, keepsDied: boolean): void {
    this.acts |= TURNING;
    if (this.turn >= DRAINS) this.#openGate(keepsDied);
    this.turn = NO_TURN;
    this.keep(lock);
    semaphore.release();
    this.acts &= ~TURNING;
  }

  /** The thread writes, and from now on has the turn only. */
  openOn(): void {
    this.open(TURNING);
    this.#openGate(false);
    this.turn = HAS_TURN;
    this.close(undefined);
  }

  #openGate(keepsDied: boolean): void {
    if (this.at !== CLOSED_OBJECT) this.#sync.openGate(this.at, keepsDied);
  }

  // --- The end ---------------------------------------------------------------------------------------------

  /**
   * Is called when a library object at this address has found the lock disposed of. Clears the seats for this address,
   * because the memory may become that of another object. If the thread has ended, `at` is CLOSED_OBJECT, because the
   * seats of the thread may already belong to another thread.
   */
  end(at: number): void {
    this.#sync.clearSeats(at, this.#membership.thread);
    this.at = CLOSED_OBJECT;
    this.seat = 0;
    this.keeps = undefined;
  }
}

/** Whether the gate of the lock at this address is shut: a writer is in, or waits until the readers have left. */
export function isGateShut(sync: Sync, at: number): boolean {
  return sync.stampOf(at) === NO_STAMP;
}

const sides = common('rw-locks', () => new WeakMap<Shared, Side>());

/** For each lock object that guards call: the side to which the guards belong. */
export const guardedBy = common('rw-guards', () => new WeakMap<GuardedLock, Side>());

/** Returns the side of the calling thread for the lock of a reference. */
export function sideOf(reference: Reference): Side {
  const { shared } = reference;
  const side = sides.get(shared) ?? new Side(reference);
  sides.set(shared, side);
  return side;
}
