/** Random calls of the script, the same for the same seed: for the replay on real servers, and for mutants of the script. */
import { hex } from './client.js';
import type { Data } from './data-model.js';
import { KEYS } from './server.js';

/** So short, in milliseconds, that sessions die. */
export const LEASE = '40';
/** So long that none dies. */
const LONG = '3600000';

/** A small generator of random numbers, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    let bits = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    bits ^= bits >>> 15;
    return (bits >>> 0) % below;
  };
}

export const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

export const SIDS = [
  'a000000000000001',
  'a000000000000002',
  's000000000000003',
  'f000000000000004',
  'f000000000000005',
];
const NAMES = ['a', 'ab', 'abc', 'a b', 'ä', 'b', '-', 'c'].map(latin1);
const KINDS: readonly (readonly string[])[] = [
  ['s', '1', '0', '0', '0'],
  ['s', '3', '1', '0', '0'],
  ['m', '1', '0', '0', '2'],
  ['m', '1', '1', '0', '4096'],
  ['w', '1048576', '0', '1', '0'],
  ['s', '4', '1', '1', '0'],
  ['m', '1', '0', '0', '0'],
  ['m', '1', '0', '0', '1'],
];
/** Of so many calls, a quarter is of one session alone, so that all others die. */
const CALLS_OF_A_PHASE = 400;
const PARTITIONS = '3';

/** Writes calls that mostly make sense: their arguments are taken from the data of the model. */
export class CallWriter {
  /** The calls are such as both forms of the script answer alike: nobody watches leases, and `P` comes alone. */
  readonly #isForBoth: boolean;
  readonly channel: string;
  readonly #keys: readonly string[];
  readonly #below: (below: number) => number;
  #calls = 0;

  constructor(seed: number, keys: readonly string[] = KEYS, isForBoth = false) {
    this.#isForBoth = isForBoth;
    this.#keys = keys;
    this.channel = (keys[0] as string).replace('meta', 'c:');
    this.#below = random(seed);
  }

  chance(percent: number): boolean {
    return this.#below(100) < percent;
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  call(data: Data): string[] {
    const hasThread = this.#calls++ % CALLS_OF_A_PHASE >= (3 * CALLS_OF_A_PHASE) / 4;
    const sid = hasThread ? (SIDS[0] as string) : this.#pick(SIDS);
    const known = data
      .hash(this.#keys[4] as string)
      .get(sid)
      ?.split(' ')[0];
    let conn = known === undefined ? 0 : Number(known);
    if (hasThread && known !== undefined && this.chance(5)) return [sid, known, this.channel, 'X'];
    const ops: string[] = [];
    const opens = known === undefined ? !this.chance(5) : this.chance(6);
    if (opens) {
      // Resumes, also past several connections; or comes late, by a connection that was replaced.
      if (known !== undefined)
        conn = this.chance(60) ? conn + this.#pick([1, 1, 9]) : Math.max(0, conn - this.#below(3));
      else if (this.chance(5)) conn = 1;
      const usual = this.#isForBoth ? LONG : LEASE;
      const agreed = data.hash(this.#keys[0] as string).get('lease') ?? usual;
      const lease = this.chance(hasThread ? 70 : 97) ? agreed : this.#pick([usual, '2000']);
      const version = this.chance(90) ? '2' : this.#pick(['2-3', '2-10', '3', '3-10', '9', '10']);
      ops.push(
        'O',
        version,
        this.chance(98) ? PARTITIONS : '4',
        lease,
        `label ${sid.slice(-1)}`,
        this.#seen(data),
        this.#topmost(data),
      );
    } else if (this.chance(3)) conn++;
    const count = 1 + this.#below(4);
    for (let op = 0; op < count; op++) {
      const more = this.#operation(data, sid);
      if (this.#isForBoth && more[0] === 'P') {
        if (ops.length > 0) continue;
        ops.push(...more);
        break;
      }
      // The time may go on between two beats of one call, and only the last is known.
      if (!/^[BW]$/.test(more[0] as string) || (!ops.includes('B') && !ops.includes('W'))) ops.push(...more);
      // What comes after is of no session.
      if (more[0] === 'X') break;
    }
    return [sid, String(conn), this.channel, ...ops];
  }

  /** None, or the ticket of the last sign of life of a session, or one around it. */
  #seen(data: Data): string {
    const leases = data.sorted(this.#keys[5] as string);
    if (this.#isForBoth || leases.length === 0 || this.chance(50)) return '-';
    const meta = data.hash(this.#keys[0] as string);
    const history = this.chance(95) ? meta.get('history') : hex(0, 40);
    return `${hex(Math.max(0, this.#pick(leases).score - this.#below(2)), 14)} ${meta.get('epoch')}.${history}`;
  }

  /** Nearly always one that the server knows; or a later one, as after a loss. */
  #topmost(data: Data): string {
    const last = Number(data.hash(this.#keys[0] as string).get('ticket') ?? 0);
    return this.chance(50) ? '0' : hex(Math.max(0, last - 5 + this.#below(this.chance(10) ? 20 : 5)), 14);
  }

  #spaceLook(data: Data): string[] {
    const leases = data.sorted(this.#keys[5] as string);
    return ['J', leases.length > 0 && this.chance(50) ? `(${this.#pick(leases).score}` : '-inf'];
  }

  /** One that somebody has, or had. */
  #ticket(data: Data): string {
    return hex(Math.max(0, Number(data.hash(this.#keys[0] as string).get('ticket') ?? 0) - this.#below(9)), 14);
  }

  #born(data: Data, name: string): string {
    const object = data.hash(this.#keys[1] as string).get(name);
    if (object === undefined || this.chance(30)) return this.chance(90) ? '-' : hex(5, 14);
    return object.split(' ')[4] as string;
  }

  /** Few numbers, so that they come again; some with many digits. */
  #rid(): string {
    const number = 1 + this.#below(12);
    return hex(this.chance(25) ? number * 0x1000_0001 : number, 10);
  }

  #operation(data: Data, sid: string): string[] {
    const name = this.#pick(NAMES);
    const kind = KINDS[NAMES.indexOf(name)] as readonly string[];
    const records = data.sorted(this.#keys[3] as string).map(({ member }) => member);
    const mine = records.filter((record) => record.startsWith(sid));
    const roll = this.#below(100);
    if (roll < 14) {
      const other = [...(this.chance(95) ? kind : this.#pick(KINDS))];
      // Differs in one thing alone.
      if (this.chance(8)) {
        const at = this.#below(other.length);
        other[at] = at === 0 ? this.#pick(['s', 'm', 'w', 'r']) : at === 1 || at === 4 ? '2' : this.#pick(['0', '1']);
        if (other[0] === 'm') other[1] = '1'; // a mutex has one permit
      }
      return ['N', name, ...other];
    }
    if (roll < 44) {
      const n = kind[0] === 'w' && this.chance(50) ? 1048576 : 1 + this.#below(this.chance(90) ? 2 : 5);
      return [this.chance(75) ? 'A' : 'T', name, this.#born(data, name), this.#rid(), hex(n, 8)];
    }
    if (roll < 70) {
      const objects = data.hash(this.#keys[1] as string);
      // A process cannot know the ticket of a request that waits.
      const waiting = this.#isForBoth ? data.sorted(this.#keys[2] as string).map(({ member }) => member) : [];
      const mayReturn = mine.filter((each) => !waiting.some((entry) => entry.includes(each.slice(26, 40))));
      const old = mayReturn.filter((each) => each.slice(26, 40) < (objects.get(each.slice(48))?.split(' ')[4] ?? 'g'));
      const from = old.length > 0 && this.chance(30) ? old : mayReturn;
      const record = this.chance(95) && from.length > 0 ? this.#pick(from) : undefined;
      const n = record ? Number.parseInt(record.slice(40, 48), 16) : 1;
      const k = this.chance(80) ? n : 1 + this.#below(n);
      const served = mine
        .filter((each) => each !== record && (each.slice(48) === record?.slice(48) || this.chance(30)))
        .slice(0, this.#below(3))
        .map((each) => each.slice(16, 26));
      if (this.chance(10)) served.push(this.#rid());
      return [
        'D',
        record ? record.slice(48) : name,
        record ? record.slice(16, 26) : this.#rid(),
        record ? record.slice(26, 40) : hex(9, 14),
        hex(n, 8),
        String(k),
        this.#pick(['-', 'c', 'r', 'd']),
        String(this.#below(this.chance(80) ? 4 : 40)),
        String(served.length),
        ...served,
      ];
    }
    if (roll < 76) return ['C', mine.length > 0 && this.chance(80) ? this.#pick(mine).slice(16, 26) : this.#rid()];
    if (roll < 82) {
      const listed = [...new Set([...mine.map((each) => each.slice(16, 26)), this.#rid()])].filter(() =>
        this.chance(80),
      );
      const upTo = this.#below(14) * (this.chance(50) ? 0x1000_0001 : 1);
      return ['S', this.chance(70) ? '' : `${this.#rid()}g`, hex(upTo, 10), String(listed.length), ...listed];
    }
    if (roll < 88) return [this.#pick(['B', 'B', 'W']), this.#seen(data)];
    if (roll < 90) return this.chance(50) ? ['X'] : this.chance(50) ? this.#spaceLook(data) : ['P', '0'];
    if (roll < 94 && records.length > 0) {
      const record = this.#pick(records);
      const ticket = this.chance(80) ? record.slice(26, 40) : hex(7, 14);
      const operation = this.chance(70) ? 'V' : 'F';
      return [operation, record.slice(48), record.slice(16, 26), ticket, record.slice(0, 16)];
    }
    if (roll < 96) return ['L', name, this.#born(data, name), this.chance(50) ? '-' : this.#ticket(data)];
    if (roll < 98) return ['K', name, this.#born(data, name)];
    if (this.chance(30)) return this.#spaceLook(data);
    if (this.chance(20)) {
      const rids = mine.filter(() => this.chance(50)).map((each) => each.slice(16, 26));
      return ['U', String(rids.length + 1), ...rids, this.#rid()];
    }
    if (this.chance(30)) return ['R', name, this.#born(data, name), String(1 + this.#below(4))];
    const from = records.length > 0 && this.chance(50) ? `${this.#pick(records).slice(0, 26)}g` : '';
    return ['I', name, String(this.#below(4)), this.chance(70) ? '' : `${this.#ticket(data)}~`, from];
  }
}

/** A call of a fixed sequence. */
export interface Scripted {
  readonly args: readonly string[];
  readonly isFull?: boolean;
  /** Unix time in microseconds. Real servers have their own. */
  readonly time?: number;
  readonly forbidden?: string;
  /** The answer is of the watch over leases, which only a server keeps. */
  readonly isWatched?: boolean;
}

const FULL = { isFull: true };
/** The commands that the script uses in a call that opens a session, but for those without which it works. */
const COMMANDS = 'TIME HGET HMGET HSET HDEL HINCRBY HSCAN ZADD ZREM ZRANGEBYLEX ZRANGEBYSCORE ZCARD'.split(' ');

/**
 * Scripted calls for cases that random calls seldom reach: a process waits for the mutex that it holds, 70 requests
 * wait for one mutex, numbers are large, a user lacks rights, or the memory of the server is full. `ticketOf` finds the
 * ticket of a request in the data.
 */
export function scriptedCalls(
  channel: string,
): readonly ((ticketOf: (sid: string, rid: string) => string) => Scripted)[] {
  const [one, two, three] = SIDS as [string, string, string];
  const rid = (number: number): string => hex(number, 10);
  const call =
    (sid: string, args: readonly string[], more: Partial<Scripted> = {}, conn = '0') =>
    (): Scripted => ({ args: [sid, conn, channel, ...args], ...more });
  const open = (sid: string, conn = '0', more: Partial<Scripted> = {}, topmost = '0') =>
    call(sid, ['O', '2-10', PARTITIONS, LEASE, 'l', '-', topmost], more, conn);
  const enter = (sid: string, formats: string, conn = '0') =>
    call(sid, ['O', formats, PARTITIONS, LEASE, 'l', '-', '0'], {}, conn);
  const make = (name: string, kind: string, max: number, bypass = 0) => [
    'N',
    name,
    kind,
    `${max}`,
    '0',
    '0',
    `${bypass}`,
  ];
  const ask = (name: string, number: number, n = 1) => ['A', name, '-', rid(number), hex(n, 8)];
  const give =
    (
      sid: string,
      name: string,
      number: number,
      n = 1,
      more: Partial<Scripted> = {},
      conn = '0',
      served: number[] = [],
    ) =>
    (ticketOf: (sid: string, rid: string) => string): Scripted => {
      const args = ['D', name, rid(number), ticketOf(sid, rid(number)), hex(n, 8), `${n}`, '-', `${served.length}`];
      return { args: [sid, conn, channel, ...args, `${served.length}`, ...served.map(rid)], ...more };
    };
  const large = 0x1000_0001;
  return [
    // Format 2 is refused while there are sessions of format 1.
    enter(one, '1'),
    enter(two, '1'),
    call(two, ['X']),
    enter(two, '2'),
    call(one, ['X']),
    enter(one, '1-2'),
    enter(two, '2'),
    call(one, ['X']),
    enter(one, '2'),
    // Format 10 is refused until nobody is there who cannot read it. A session that resumes, or whose call was sent
    // twice, counts once.
    enter(two, '2-10'),
    enter(two, '2-10'),
    enter(two, '2-10', '1'),
    enter(three, '10'),
    call(one, ['X']),
    enter(three, '10'),
    // Now the data may have format 10, also when the last process that writes it has left.
    enter(one, '9'),
    enter(one, '9-10'),
    call(three, ['X']),
    call(one, ['X']),
    call(two, ['X'], {}, '1'),
    enter(one, '9'),
    ...COMMANDS.map((forbidden) => open(one, '0', { forbidden })),
    open(one),
    open(three, '0', { forbidden: 'ZREM' }),
    call(one, [...make('own', 'm', 1, 2), ...ask('own', 1), ...ask('own', 2), ...ask('own', 3)]),
    give(one, 'own', 1),
    call(one, [...make('crowd', 'm', 1, 4095), ...Array.from({ length: 71 }, (_, at) => ask('crowd', 11 + at)).flat()]),
    give(one, 'crowd', 11),
    (ticketOf) => ({ args: [one, '0', channel, 'I', 'crowd', '2', `${ticketOf(one, rid(15))}~`, ''] }),
    call(one, [...make('large', 's', 2 * large), ...ask('large', 101, large), ...ask('large', 102, large)]),
    call(one, ask('large', 103, large)),
    give(one, 'large', 101, large),
    give(one, 'large', 102, large),
    // One message has two grants.
    open(two),
    call(one, [...make('two', 's', 2), ...ask('two', 111, 2)]),
    call(two, [...ask('two', 112), ...ask('two', 113)]),
    give(one, 'two', 111, 2),
    call(two, ['X']),
    call(one, [...make('last', 's', 2), ...ask('last', 0xf0_0000_0001), 'S', '', rid(200), '0']),
    call(one, [...make('old', 'm', 1, 2), ...ask('old', 401), 'K', 'old', '-']),
    call(one, [...make('old', 'm', 1, 2), ...ask('old', 402)]),
    give(one, 'old', 402, 1, {}, '0', [401]),
    // The mutex was passed on to a request that has come to the next object of the name.
    call(one, [...make('older', 'm', 1, 2), ...ask('older', 411), 'K', 'older', '-']),
    call(one, [...make('older', 'm', 1, 2), ...ask('older', 412), ...ask('older', 413)]),
    give(one, 'older', 411, 1, {}, '0', [413]),
    open(two),
    call(two, [...make('full', 's', 2), ...ask('full', 1), ...ask('full', 2)]),
    call(one, ask('full', 301)),
    call(one, ask('full', 302)),
    call(two, ask('full', 3), FULL),
    call(two, make('another', 's', 1), FULL),
    call(one, ['C', rid(302)], FULL),
    give(two, 'full', 1, 1, FULL),
    call(two, ['B', '-'], FULL),
    call(two, ['W', '-'], FULL),
    open(two, '1', FULL),
    call(two, ['S', '', rid(9), '1', rid(2)], FULL, '1'),
    give(two, 'full', 2, 1, FULL, '1'),
    call(two, ['L', 'full', '-', '-'], FULL, '1'),
    call(two, ['K', 'full', '-'], FULL, '1'),
    call(two, ['X'], FULL, '1'),
    open(two, '0', FULL),
    // The last ticket of all is of who waits; and who waits behind those that are cancelled is served.
    open(three),
    call(three, [...make('up to', 's', 2), ...ask('up to', 501), ...ask('up to', 502, 2), 'L', 'up to', '-', '-']),
    call(three, [...ask('up to', 503, 2), ...ask('up to', 504)]),
    (ticketOf) => ({ args: [three, '0', channel, 'L', 'up to', '-', ticketOf(three, rid(503))] }),
    // Grants are left of an object that is disposed of.
    call(three, [...make('left', 's', 200), ...ask('left', 601, 200)]),
    call(three, Array.from({ length: 130 }, (_, at) => ask('left', 602 + at)).flat()),
    give(three, 'left', 601, 200),
    call(three, ['K', 'left', '-']),
    call(three, ['B', '-']),
    // Grants are left, and the next beat makes them.
    call(three, [...make('goes on', 's', 200), ...ask('goes on', 1001, 200)]),
    call(three, Array.from({ length: 130 }, (_, at) => ask('goes on', 1002 + at)).flat()),
    give(three, 'goes on', 1001, 200),
    call(three, ['B', '-']),
    // More requests wait than one call cancels. Who comes later is not cancelled.
    call(three, [
      ...make('crowded', 's', 1),
      ...Array.from({ length: 131 }, (_, at) => ask('crowded', 1201 + at)).flat(),
    ]),
    call(three, ['L', 'crowded', '-', '-', ...ask('crowded', 1332)]),
    (ticketOf) => ({ args: [three, '0', channel, 'L', 'crowded', '-', ticketOf(three, rid(1331))] }),
    // More wait for an object that is disposed of than go in one call.
    call(three, [...make('many', 's', 1), ...Array.from({ length: 131 }, (_, at) => ask('many', 801 + at)).flat()]),
    call(three, ['K', 'many', '-', 'B', '-']),
    call(three, ['K', 'many', '-', 'B', '-']),
    // A process knows of tickets that lie ahead of the time, so tickets leap. Who waits gets a new one as the session ends.
    open(one, '1'),
    call(one, ['X'], {}, '1'),
    open(two),
    call(two, [...make('again', 's', 1), ...ask('again', 701), ...ask('again', 702)]),
    open(two, '1', {}, hex(2 ** 49, 14)),
    call(two, ['X'], {}, '1'),
    // The last of those that wait gets the ticket to which the tickets have leapt. It may not pass the mutex on.
    ...Array.from({ length: 4 }, () => call(three, ['X'])), // a part each
    open(two),
    call(two, [...make('leapt', 'm', 1, 2), ...ask('leapt', 711), ...ask('leapt', 712)]),
    open(two, '1', {}, hex(2 ** 50, 14)),
    give(two, 'leapt', 711, 1, {}, '1'),
    call(two, ['S', '', rid(712), '1', rid(712)], {}, '1'),
    call(two, ['X'], {}, '1'),
    // The longest silence after which a process still enters without a watch, and one that is a millisecond longer.
    open(one, '0', { time: 1_700_000_001_000_000 }),
    call(one, [...make('silent', 's', 1), ...ask('silent', 721)]),
    open(two, '0', { time: 1_700_000_001_000_000 + 1000 * (Number(LEASE) - 1) }),
    call(two, ['X']),
    open(two, '0', { time: 1_700_000_001_000_000 + 1000 * Number(LEASE), isWatched: true }),
    call(one, ['X']),
    // Since when requests are held, in `I`: of one that a beat has named twice, of one that waits, and of one that there is not.
    open(one),
    call(one, [...make('since', 's', 2), ...ask('since', 901), ...ask('since', 902), ...ask('since', 903)]),
    call(one, ['U', '3', rid(901), rid(903), rid(999), 'I', 'since', '5', '', '']),
    call(one, ['U', '2', rid(901), rid(902), 'I', 'since', '5', '', ''], { time: 1_700_000_000_500_000 }),
    (ticketOf) => {
      const ticket = ticketOf(one, rid(901));
      return { args: [one, '0', channel, 'D', 'since', rid(901), ticket, hex(1, 8), '1', '-s', '0', '0'] };
    },
    // An answer was lost: it goes back again, and is named again.
    (ticketOf) => {
      const ticket = ticketOf(one, rid(902));
      return { args: [one, '0', channel, 'D', 'since', rid(902), ticket, hex(1, 8), '1', '-', '0', '0'] };
    },
    call(one, ['U', '2', rid(902), rid(903), 'I', 'since', '5', '', '']),
    // One entry of the queue is asked for; and the name of one object begins with that of another.
    call(one, [...make('sincere', 's', 1), ...ask('sincere', 941), ...ask('sincere', 942), 'I', 'since', '1', '', '']),
    call(one, ['I', 'sincere', '1', '', '']),
    // A semaphore is resized by who knows of it, and who asks for too much is turned away.
    call(one, [...make('sized', 's', 2), ...make('sized', 'r', 3), ...make('sized', 's', 9), ...make('sized', 'r', 5)]),
    call(one, [...make('sized', 'm', 1), ...ask('sized', 921), ...ask('sized', 922, 3), ...ask('sized', 923, 3)]),
    call(one, [...ask('sized', 924, 2), 'R', 'sized', '-', '2', ...ask('sized', 925, 3)]),
    // A death of a holder that a beat has named.
    call(one, ['N', 'dies', 's', '1', '1', '0', '0', ...ask('dies', 931), ...ask('dies', 932), 'U', '1', rid(931)]),
    (ticketOf) => {
      const ticket = ticketOf(one, rid(931));
      return { args: [one, '0', channel, 'D', 'dies', rid(931), ticket, hex(1, 8), '1', 'ds', '0', '0'] };
    },
    // The session `two` ends. One of its requests holds. Another request of `two` waits behind a request of session
    // `one`, and asks for more permits than the semaphore has by now. The request of `one` is granted, and the other
    // one is turned away.
    open(two),
    call(two, [...make('away', 's', 4), ...ask('away', 951, 4)]),
    call(one, [...make('away', 's', 4), ...ask('away', 953, 2)]),
    call(two, [...ask('away', 952, 4), 'R', 'away', '-', '2']),
    call(two, ['X']),
    // A number of passes with two digits.
    call(one, [...make('base', 'm', 1, 100), ...ask('base', 911)]),
    (ticketOf) => {
      const ticket = ticketOf(one, rid(911));
      return { args: [one, '0', channel, 'D', 'base', rid(911), ticket, hex(1, 8), '1', '-', '40', '0'] };
    },
    call(one, [...ask('base', 912), ...ask('base', 913), ...ask('base', 914)]),
    give(one, 'base', 912),
    // With a limit of 0 nobody looks for holders.
    call(one, [...make('seen', 's', 2), ...ask('seen', 921), 'I', 'seen', '0', '', '']),
    call(one, ['X']),
  ];
}

/** The ticket of a request in the records, or one that nobody has. */
export const ticketIn =
  (data: Data, records: string = KEYS[3]) =>
  (sid: string, rid: string): string =>
    data
      .sorted(records)
      .find(({ member }) => member.startsWith(sid + rid))
      ?.member.slice(26, 40) ?? hex(1, 14);
