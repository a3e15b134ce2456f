/**
 * Who waits for whom: the threads that block, what each of them waits for, and who holds that.
 *
 *     kind                a thread waits for            who holds it (one fact each)
 *     Mutex               the lock                      the owner, in the word of the mutex
 *     robust Semaphore    permits                       each thread with permits, in its attachment
 *     RwLock              the turn, to write            the thread that has the turn, in its attachment
 *                         the readers, to write         each reader, in its seat
 *                         the writer, to read           the thread that has the turn and has shut the gate
 *     Once                the end of the work           the thread that does the work, in its attachment
 *     all others          nobody knows whom: any thread may release, notify or arrive
 *
 * Who is stuck. A RwLock waits for all its readers, and a semaphore for enough of its holders. So threads that wait in
 * a circle are found by reduction. All threads are taken as live that run, that wait with a time limit, or that wait
 * for something that has no known holders. Then, again and again, a thread becomes live if what it waits for could be
 * had once every live thread has given back all that it holds. The threads that are left are stuck. In the queue of a
 * semaphore, a thread that asks for few permits is also stuck behind a stuck one that asks for more.
 *
 * A look may be one of several, at the arenas of a process (`together` in src/look/look.ts). A thread that blocks in one
 * arena and holds something in another then is one thread: `who` is its number in all looks, and `thread` that in one arena.
 */
import {
  ALIVE,
  ASLEEP,
  ASYNC,
  ATTACHED,
  E_HELD,
  E_REQUEST,
  E_SINCE,
  E_START,
  ELEMENT_SIZE,
  GATE_DRAINING,
  GATE_SHUT,
  HAS_HEAD,
  KIND_MUTEX,
  KIND_ONCE,
  KIND_RW_LOCK,
  KIND_SEMAPHORE,
  LIFE_STATE,
  M_HEAD,
  M_OWNER,
  M_WORD,
  O_ADDED,
  O_DRAIN,
  O_INITIAL,
  O_KIND,
  O_LIFE,
  O_PHASE,
  O_ROBUST,
  OBJECT_SIZE,
  STATE_MASK,
  T_LIFE,
  T_RUNTIME_ID,
  T_SLEEPS,
  T_SLEEPS_ON,
  T_WAKE,
  WAITING,
  WIDTH_MASK,
} from '../border/numbers.js';
import { type Attachment, addTo } from '../look/elements.js';
import { attachmentsOf, type Look, type Seat, seatsOf, type Thread } from '../look/look.js';
import { has, isAsync, kindOf, objectIndexOf, threadOf, View } from '../look/view.js';
import { addressIn, type Fact, type Sleeper } from './confirm.js';

const ALL_BITS = -1;
/** The bits of T_SLEEPS_ON besides the address of the word: the wait has no time limit, and the thread is passive. */
const IS_ENDLESS = 1;
export const IS_PASSIVE = 2;

/** A thread that holds something, and the facts that say so. */
export interface Holder {
  readonly thread: number;
  readonly who: number;
  /** How many permits or tasks it holds, 1 for a lock. */
  readonly held: number;
  readonly facts: readonly Fact[];
}

/** A thread that blocks in a call of the library. */
export interface Blocked {
  /** The look at the arena in which it blocks. */
  readonly look: Look;
  readonly thread: Thread;
  readonly who: number;
  readonly object: number;
  readonly kind: number;
  /** In the queue, as the head of a mutex, for the end of a phase, or for the readers of a RwLock. */
  readonly how: 'queue' | 'head' | 'phase' | 'drain';
  readonly permits: number;
  readonly waited: number;
  readonly isTimed: boolean;
  readonly facts: readonly Fact[];
  /** The facts that say which is its first ticket, if it waits in the queue: of the low half, and of the high half. */
  readonly start?: readonly [Fact, Fact];
}

function requestFacts(view: View, element: number, state: number, thread: number, object: number): Fact[] {
  const index = view.indexOf(object);
  return [
    { address: element, value: state, mask: STATE_MASK },
    { address: element + E_REQUEST, value: (index & 1) << 31, mask: ~WIDTH_MASK },
    { address: element + E_REQUEST + 4, value: (thread << 19) | (index >>> 1), mask: ALL_BITS },
  ];
}

function heldFacts(view: View, { element, thread, object, held }: Attachment): Fact[] {
  return [
    ...requestFacts(view, element, ATTACHED, thread, object),
    { address: element + E_HELD, value: held, mask: ALL_BITS },
  ];
}

/** Returns the facts that a seat still has the value that the look has found. */
function seatFacts({ address, phase, high }: Seat): Fact[] {
  return [
    { address, value: phase, mask: ALL_BITS },
    { address: address + 4, value: high, mask: ALL_BITS },
  ];
}

/** Returns the facts that a word still has the value that it has now. What follows must follow from these values. */
function still(view: View, ...addresses: number[]): Fact[] {
  return addresses.map((address) => ({ address, value: view.load(address), mask: ALL_BITS }));
}

/** For what a thread blocks, as the word tells on which it sleeps. */
interface Wanted extends Pick<Blocked, 'object' | 'how' | 'facts' | 'start'> {
  /** Since when it waits, as the element says. */
  readonly since: number;
  /** Default 1. */
  readonly permits?: number;
}

/** Returns for what the thread blocks; undefined if it does not block, or waits for an object of the algorithms. */
export function blockedOn(look: Look, thread: Thread): Blocked | undefined {
  const { view } = look;
  const word = thread.sleepsOn & ~(IS_ENDLESS | IS_PASSIVE);
  const number = thread.thread;
  const wanted = wantedBy(look, number, word);
  if (wanted === undefined) return undefined;
  const { object, how, since, permits = 1, start } = wanted;
  const kind = kindOf(view, object);
  const asleep = {
    address: view.record(number) + T_SLEEPS_ON,
    value: thread.sleepsOn & ~IS_PASSIVE,
    mask: ~IS_PASSIVE,
  };
  const same = { address: object + O_KIND, value: kind, mask: ALL_BITS };
  // The texts name the object. A later one in the same place has another generation.
  const generation = still(view, object + O_LIFE + 4);
  return {
    look,
    thread,
    who: look.whoOf(number),
    object,
    kind,
    how,
    permits,
    waited: look.ageOf(since),
    isTimed: (thread.sleepsOn & IS_ENDLESS) === 0,
    facts: [asleep, same, ...generation, ...wanted.facts],
    ...(start && { start }),
  };
}

/** @param word the address of the word on which the thread sleeps. */
function wantedBy(look: Look, thread: number, word: number): Wanted | undefined {
  const { view } = look;
  if (word >= view.elements) return wantedInQueue(view, thread, word);
  if (word === view.record(thread) + T_WAKE) return wantedByHead(look, thread);
  return word < view.objects || word >= view.names ? undefined : wantedOfObject(look, thread, word);
}

/** The thread sleeps on its element in a queue. */
function wantedInQueue(view: View, thread: number, element: number): Wanted | undefined {
  if (element >= view.labels || (element - view.elements) % ELEMENT_SIZE !== 0) return undefined;
  const lo = view.load(element + E_REQUEST);
  const hi = view.load(element + E_REQUEST + 4);
  if ((view.load(element) & STATE_MASK) !== WAITING || threadOf(hi) !== thread || isAsync(hi)) return undefined;
  const object = view.objectAt(objectIndexOf(lo, hi));
  const facts = requestFacts(view, element, WAITING, thread, object);
  const start = still(view, element + E_START, element + E_START + 4) as [Fact, Fact];
  return { object, how: 'queue', since: view.load(element + E_SINCE), facts, permits: lo & WIDTH_MASK, start };
}

/** The thread sleeps in its record: it is the head of a mutex. Its promises may be the heads of others. */
function wantedByHead(look: Look, thread: number): Wanted | undefined {
  const { view } = look;
  for (const attachment of attachmentsBy(look, thread)) {
    const { object, element, waits } = attachment;
    if (waits === 0 || !has(view, object, HAS_HEAD) || view.load(object + M_HEAD) !== thread) continue;
    // The element of the head says 1 in the word in which others have what the thread holds.
    const facts = [
      ...heldFacts(view, { ...attachment, held: 1 }),
      { address: object + M_HEAD, value: thread, mask: ALL_BITS },
    ];
    return { object, how: 'head', since: view.load(element + E_SINCE), facts };
  }
  return undefined;
}

/** The thread sleeps on a word of the object: for the end of a phase, or for the readers of a RwLock. */
function wantedOfObject(look: Look, thread: number, word: number): Wanted | undefined {
  const { view } = look;
  const offset = (word - view.objects) % OBJECT_SIZE;
  const object = word - offset;
  const own = attachmentsOf(look, object).find((attachment) => attachment.thread === thread && attachment.waits > 0);
  if (own === undefined) return undefined;
  const since = view.load(own.element + E_SINCE);
  if (offset === O_PHASE + 4) {
    // A reader waits for the end of the phase that its seat names. Other kinds wait for the end of the present phase.
    const seat = seatsOf(look, object).find((seat) => seat.thread === thread);
    const facts = seat
      ? [...seatFacts(seat), { address: object + O_PHASE + 4, value: seat.phase, mask: ALL_BITS }]
      : still(view, object + O_PHASE + 4);
    return { object, how: 'phase', since, facts };
  }
  if (offset !== O_DRAIN || kindOf(view, object) !== KIND_RW_LOCK) return undefined;
  const drains = { address: object + O_PHASE, value: GATE_DRAINING, mask: GATE_DRAINING };
  return { object, how: 'drain', since, facts: [...heldFacts(view, own), drains] };
}

/** The attachments of each thread, made once for each look. */
const byThread = new WeakMap<Look, Map<number, Attachment[]>>();

export function attachmentsBy(look: Look, thread: number): readonly Attachment[] {
  let all = byThread.get(look);
  if (!all) {
    all = new Map();
    for (const list of look.attachments.values())
      for (const attachment of list) {
        const own = all.get(attachment.thread);
        if (own) own.push(attachment);
        else all.set(attachment.thread, [attachment]);
      }
    byThread.set(look, all);
  }
  return all.get(thread) ?? [];
}

function ownerOf(look: Look, object: number): Holder[] {
  const thread = look.view.load(object + M_WORD) & M_OWNER;
  const facts = [{ address: object + M_WORD, value: thread, mask: M_OWNER }];
  return thread === 0 ? [] : [{ thread, who: look.whoOf(thread), held: 1, facts }];
}

function holdersBy(look: Look, object: number): Holder[] {
  return attachmentsOf(look, object)
    .filter(({ held }) => held > 0)
    .map((attachment) => ({
      thread: attachment.thread,
      who: look.whoOf(attachment.thread),
      held: attachment.held,
      facts: heldFacts(look.view, attachment),
    }));
}

/** Those who hold something, by a number for what it is: made once for each look, as many may wait for it. */
const found = new WeakMap<Look, Map<number, readonly Holder[] | undefined>>();

/**
 * Returns who holds what a waiter of the object waits for. Undefined if nobody can know. All who wait for the same get
 * the same list.
 * @param how as in `Blocked`; for a promise, the same.
 */
export function holdersOf(
  look: Look,
  object: number,
  kind: number,
  how: Blocked['how'],
  waiter: number,
): readonly Holder[] | undefined {
  // Each one who waits for the readers of a RwLock waits for all but itself.
  if (how === 'drain') return findHolders(look, object, kind, how, waiter);
  let all = found.get(look);
  if (!all) {
    all = new Map();
    found.set(look, all);
  }
  const what = kind * 2 ** 32 + object + Number(how === 'phase');
  if (!all.has(what)) all.set(what, findHolders(look, object, kind, how, waiter));
  return all.get(what);
}

function findHolders(
  look: Look,
  object: number,
  kind: number,
  how: Blocked['how'],
  waiter: number,
): Holder[] | undefined {
  const { view } = look;
  switch (kind) {
    case KIND_MUTEX:
      return ownerOf(look, object);
    case KIND_SEMAPHORE:
      return view.load(object + O_ROBUST) === 0 ? undefined : holdersBy(look, object);
    case KIND_ONCE:
      return holdersBy(look, object);
    case KIND_RW_LOCK: {
      if (how === 'queue') return holdersBy(look, object);
      const gate = view.load(object + O_PHASE);
      const phase = view.load(object + O_PHASE + 4);
      if (how === 'phase')
        return (gate & GATE_SHUT) === 0
          ? []
          : holdersBy(look, object).map(({ facts, ...holder }) => ({
              ...holder,
              facts: [...facts, { address: object + O_PHASE, value: GATE_SHUT, mask: GATE_SHUT }],
            }));
      // A seat that waits for another phase counts as one that reads.
      return seatsOf(look, object)
        .filter((seat) => seat.thread !== waiter && (seat.reads || seat.phase !== phase))
        .map((seat) => ({
          thread: seat.thread,
          who: look.whoOf(seat.thread),
          held: 1,
          facts: [...seatFacts(seat), { address: object + O_PHASE + 4, value: phase, mask: ALL_BITS }],
        }));
    }
    default:
      return undefined;
  }
}

/** Returns how many permits a robust semaphore has in all, and the facts of this. */
function permitsIn(view: View, object: number): [number, Fact[]] {
  const facts = still(view, object + O_INITIAL, object + O_ADDED);
  return [facts.reduce((sum, { value }) => sum + value, 0), facts];
}

/** A thread that waits in a circle, or behind one. */
export interface Stuck {
  readonly blocked: Blocked;
  /** The holders that are stuck themselves. Any one of them keeps the thread waiting; of a semaphore, all together. */
  readonly holders: readonly Holder[];
  /** Facts that hold besides those of the holders. */
  readonly facts: readonly Fact[];
  /** A thread that stands before it in the queue of a semaphore, and is stuck because it asks for more permits. */
  readonly before?: number | undefined;
}

/** A thread that blocks, and who holds what it waits for. */
interface Wait {
  readonly blocked: Blocked;
  readonly holders: readonly Holder[];
}

/** Threads that are perhaps stuck. They only become fewer, once a thread has asked for those among some holders. */
class Suspects extends Set<number> {
  readonly #found = new Map<readonly Holder[], { readonly size: number; readonly list: readonly Holder[] }>();

  /** Returns those of the holders that are among them: the same list to all who wait for the same. */
  among(holders: readonly Holder[]): readonly Holder[] {
    const { size } = this;
    let found = this.#found.get(holders);
    if (found?.size !== size) {
      found = { size, list: holders.filter(({ who }) => this.has(who)) };
      this.#found.set(holders, found);
    }
    return found.list;
  }
}

/**
 * Returns who is stuck, by the number of the thread in all looks. They are looks at several arenas only if `together`
 * has made them so.
 */
export function stuckIn(...looks: Look[]): Map<number, Stuck> {
  const waits: Wait[] = [];
  const stuck = new Map<number, Stuck>();
  const suspects = new Suspects();
  for (const blocked of blockedIn(looks)) {
    const holders = holdersOf(blocked.look, blocked.object, blocked.kind, blocked.how, blocked.thread.thread);
    if (blocked.isTimed || holders === undefined) continue;
    waits.push({ blocked, holders });
    suspects.add(blocked.who);
  }
  const lines = linesOf(waits);
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const wait of waits) {
      const { who } = wait.blocked;
      if (!suspects.has(who) || reasonOf(wait, lines, suspects)) continue;
      suspects.delete(who);
      goesOn = true;
    }
  }
  for (const wait of waits) {
    const { who } = wait.blocked;
    const reason = suspects.has(who) && reasonOf(wait, lines, suspects);
    if (reason) stuck.set(who, reason);
  }
  return stuck;
}

/** Returns the waits of the threads that block. */
function blockedIn(looks: readonly Look[]): Iterable<Blocked> {
  const found = new Map<number, Blocked>();
  const unclear = new Set<number>();
  for (const look of looks)
    for (const thread of look.threads.values()) {
      const blocked = thread.isDead ? undefined : blockedOn(look, thread);
      if (blocked === undefined) continue;
      const { who } = blocked;
      // It was seen asleep in two arenas, as it has woken in between and gone to sleep again. The next look tells.
      if (found.has(who) && found.get(who)?.thread.isAsleep && thread.isAsleep) unclear.add(who);
      if (thread.isAsleep || !found.has(who)) found.set(who, blocked);
    }
  for (const who of unclear) found.delete(who);
  return found.values();
}

/** Those who wait for each semaphore. */
type Lines = ReadonlyMap<Look, ReadonlyMap<number, readonly Wait[]>>;

function linesOf(waits: readonly Wait[]): Lines {
  const lines = new Map<Look, Map<number, Wait[]>>();
  for (const wait of waits) {
    const { look, kind, object } = wait.blocked;
    if (kind !== KIND_SEMAPHORE) continue;
    const its = lines.get(look) ?? new Map<number, Wait[]>();
    lines.set(look, its);
    addTo(its, object, wait);
  }
  return lines;
}

/** Returns why a thread cannot go on if these threads give nothing back; undefined if it can. */
function reasonOf({ blocked, holders }: Wait, lines: Lines, suspects: Suspects): Stuck | undefined {
  const suspected = suspects.among(holders);
  if (suspected.length === 0) return undefined;
  if (blocked.kind !== KIND_SEMAPHORE) return { blocked, holders: suspected, facts: [] };
  const [permits, facts] = permitsIn(blocked.look.view, blocked.object);
  const free = suspected.reduce((left, { held }) => left - held, permits);
  if (free < blocked.permits) return { blocked, holders: suspected, facts };
  // Nobody passes one that stands before it and waits for more permits.
  const before = lines
    .get(blocked.look)
    ?.get(blocked.object)
    ?.find(({ blocked: one }) => one.permits > free && suspects.has(one.who) && isBefore(one, blocked));
  if (before === undefined) return undefined;
  const order = [...(blocked.start ?? []), ...(before.blocked.start ?? [])];
  return { blocked, holders: suspected, facts: [...facts, ...order], before: before.blocked.who };
}

/** Whether a request stands before another one in their queue. */
function isBefore({ start }: Blocked, other: Blocked): boolean {
  if (!start || !other.start) return false;
  return View.difference(start[0].value, start[1].value, other.start[0].value, other.start[1].value) < 0;
}

/** Returns what the second look at a circle of threads must find. */
export function evidenceOf(stuck: ReadonlyMap<number, Stuck>, cycle: readonly number[]): [Sleeper[], Fact[]] {
  const all = new Set(cycle);
  const sleepers: Sleeper[] = [];
  const facts: Fact[] = [];
  /** The facts that say that two records are those of one thread. They come last (confirm.ts). */
  const same: Fact[] = [];
  /** The holders whose facts are among these. */
  const known = new Set<Holder>();
  // The set grows while the loop runs over it.
  for (const who of all) {
    const { blocked, holders, facts: more, before } = stuck.get(who) as Stuck;
    const { look, thread } = blocked;
    const placed = (list: readonly Fact[]): Fact[] =>
      list.map((fact) => ({ ...fact, address: addressIn(look.index, fact.address) }));
    if (before !== undefined) all.add(before);
    const record = addressIn(look.index, look.view.record(thread.thread));
    const life = (thread.life & ~LIFE_STATE) | ASLEEP;
    sleepers.push({ lifeAt: record + T_LIFE, life, sleepsAt: record + T_SLEEPS });
    facts.push(...placed([...blocked.facts, ...more]));
    const next = cycle[cycle.indexOf(who) + 1] ?? cycle[0];
    const needed = holders.find((holder) => holder.who === next) ?? (holders[0] as Holder);
    for (const holder of blocked.kind === KIND_SEMAPHORE ? holders : [needed]) {
      if (known.has(holder)) continue;
      known.add(holder);
      facts.push(...placed(holder.facts));
      all.add(holder.who);
      const its = (stuck.get(holder.who) as Stuck).blocked;
      // A thread that has left the arena during the look, and attached to it again, may have two records in the look.
      if (its.look !== look || its.thread.thread !== holder.thread)
        same.push(...sameThread(look, holder.thread, its.look, its.thread));
    }
  }
  return [sleepers, [...facts, ...same]];
}

/** Returns the facts that a living record is that of a thread which sleeps by another record, mostly in another arena. */
function sameThread(here: Look, number: number, there: Look, sleeper: Thread): Fact[] {
  const known = here.threads.get(number) as Thread;
  const alive = (known.life & ~LIFE_STATE) | ALIVE;
  // A thread without a threadId counts as another one in each arena.
  const runtimeId = (sleeper.threadId as number) + 1;
  const record = addressIn(here.index, here.view.record(number));
  const asleep = addressIn(there.index, there.view.record(sleeper.thread));
  return [
    { address: asleep + T_RUNTIME_ID, value: runtimeId, mask: ALL_BITS },
    { address: record + T_RUNTIME_ID, value: runtimeId, mask: ALL_BITS },
    { address: record + T_LIFE, value: alive, mask: ALL_BITS },
  ];
}

/** The promise that is the head of a mutex, as the word M_HEAD names it. */
export function headPromiseOf(view: View, object: number): number {
  const head = view.load(object + M_HEAD);
  return (head & ASYNC) === 0 ? 0 : head & ~ASYNC;
}
