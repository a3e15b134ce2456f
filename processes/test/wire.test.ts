/**
 * What wire.ts reads is what the script writes. The parser of wire.ts reads each text of the script. The test puts the
 * text together again from the fields that the parser names, and the result must be the same text. So script and parser
 * have the same fields in the same places. After each operation of wire.ts another operation follows. The script finds
 * it only if it counts the same number of arguments for the first.
 */
import { expect, test } from 'vitest';
import { Data } from '../check/data-model.js';
import { type Reply, Server, turnChunk } from '../check/server.js';
import * as wire from '../src/script/wire.js';

const server = new Server(turnChunk({ WORK: 2, MOST_FOUND: 3 }));
const [A, B] = ['p00000000000000a', 'p00000000000000b'];
const rid = (number: number): string => wire.hex(number, 10);
const TICKET = /^[0-9a-f]{14}$/;

/** A server and its two sessions, A and B. */
class World {
  data = new Data();
  time = 1_800_000_000_000_000;
  history = 'f'.repeat(40);
  /** The messages that the script has published. */
  messages: string[] = [];

  /** Calls the script, and returns its reply. */
  reply(sid: string, operations: readonly wire.Arguments[], conn = 0): Reply[] {
    this.time += 1000;
    const args = [...wire.call(sid, conn, 'c:'), ...operations.flat()];
    const { time, history } = this;
    const { data, reply, published } = server.turn(this.data, args, { time, history });
    this.data = data;
    this.messages.push(...published.map(({ text }) => text));
    expect(reply).toBeInstanceOf(Array);
    return reply as Reply[];
  }

  /** Calls an operation and another one behind it. Returns the answer of the first, and the news behind all answers. */
  call(sid: string, operation: wire.Arguments, conn = 0): [answer: Reply, news: string[]] {
    const [answer, end, ...news] = this.reply(sid, [operation, wire.cancel(rid(999))], conn);
    expect(end).toBe(wire.UNKNOWN);
    return [answer as Reply, news as string[]];
  }

  answer(sid: string, operation: wire.Arguments): Reply {
    return this.call(sid, operation)[0];
  }

  enter(sid: string, lease = 1000, seen = wire.NONE, conn = 0): Reply {
    return this.call(sid, wire.enter(1, lease, `label of ${sid}`, seen, '0'), conn)[0];
  }

  constructor() {
    this.enter(A);
    this.enter(B);
  }
}

const settings = (kind: wire.Kind, max: number, more: Partial<wire.Settings> = {}): wire.Settings => ({
  ...{ kind, max, robust: false, ephemeral: false, bypass: 0 },
  ...more,
});

/** Opens a new object. Returns the ticket with which the object was made. */
function opened(world: World, name: string, of: wire.Settings, sid = A): string {
  const answer = wire.openedIn(world.answer(sid, wire.open(name, of)));
  if (answer.others) throw new Error('it exists');
  return answer.born;
}

function written(fate: wire.Fate, isState = false): string {
  if (fate.is === wire.TOO_MANY) return `M ${fate.max}`;
  if (fate.is !== wire.HELD) return fate.is;
  const { ticket, deaths, lent, waiting, permits } = fate;
  expect(ticket).toMatch(TICKET);
  return `H ${ticket}:${deaths}:${lent}:${waiting}${isState ? `:${permits}` : ''}`;
}

const digit = (is: boolean): string => (is ? '1' : '0');

function asFixed({ kind, resized, max, robust, ephemeral, born }: wire.Found): string {
  return `${resized ? 'r' : kind} ${max} ${digit(robust)} ${digit(ephemeral)} ${born}`;
}

test('sessions: entering, beats, and ends', () => {
  const world = new World();
  const entered = world.enter('p00000000000000c');
  const open = wire.enteredIn(entered);
  if (open.is !== 'open') throw new Error(open.is);
  expect(`O ${open.sign.ticket} ${open.sign.place}`).toBe(entered);
  expect(open.sign.told).toBe(`${open.sign.ticket} ${open.sign.place}`);
  expect(open.sign.place).toBe(`1.${world.history}`);

  const [others] = world.reply('p00000000000000d', [wire.enter(2, 1000, 'd', wire.NONE, '0')]);
  const differs = wire.enteredIn(others);
  expect(differs).toEqual({ is: 'others', settings: [String(wire.FORMAT.written), '1', '1000'] });

  for (const operation of [wire.beat(open.sign.told), wire.beatAside()]) {
    const answer = world.answer(A, operation);
    const { seq, isLeft, sign } = wire.beatIn(answer);
    expect(`B ${seq} ${digit(isLeft)} ${sign.ticket} ${sign.place}`).toBe(answer);
    expect(wire.isBeat(answer)).toBe(true);
  }
  expect(world.reply(A, [wire.beat(wire.NONE)], 1)).toEqual([wire.STALE]);
  expect(world.reply('p00000000000000e', [wire.beat(wire.NONE)])).toEqual([wire.DEAD]);

  const states = world.answer(A, wire.list(wire.START, rid(9), []));
  const { isWhole, seq, place } = wire.statesIn(states);
  expect([`${isWhole ? 'S' : 's'} ${seq} ${place}`]).toEqual(states);

  opened(world, 's', settings('s', 9));
  for (let i = 1; i <= 3; i++) world.answer(A, wire.ask(true, 's', wire.NONE, rid(i), 1));
  expect(world.reply(A, [wire.leave()])).toEqual([wire.LEFT]);
  while (world.reply(A, [wire.leave()])[0] === wire.LEFT);
  expect(world.reply(A, [wire.leave()])).toEqual([wire.DEAD]);
  expect(wire.newSid(false)).toMatch(/^p[0-9a-f]{15}$/);
  expect(wire.newSid(true)).toMatch(/^s[0-9a-f]{15}$/);

  // Session B holds a permit and has been silent for long.
  world.enter(B);
  world.answer(B, wire.ask(true, 's', wire.NONE, rid(1), 1));
  world.time += 5_000_000;
  const watching = world.reply('p00000000000000f', [wire.enter(1, 1000, 'f', wire.NONE, '0')])[0];
  const watch = wire.enteredIn(watching);
  if (watch.is !== 'watch') throw new Error(watch.is);
  expect(`Z ${watch.lease} ${watch.sign.ticket} ${watch.sign.place}`).toBe(watching);
});

test('objects: opening, listing, resizing, and ends', () => {
  const world = new World();
  for (const of of [settings('s', 3, { ephemeral: true }), settings('m', 1, { bypass: 7 }), settings('w', 9)]) {
    const robust = { ...of, robust: of.kind === 'w' };
    const answer = world.answer(A, wire.open(of.kind, robust));
    if (!of.ephemeral) expect(`N ${opened(world, of.kind, robust)}`).toBe(answer);
    // An ephemeral semaphore that is idle is made anew.
    const other = { ...robust, max: 1234, ephemeral: false };
    const differs = wire.openedIn(world.answer(A, wire.open(of.kind, other)));
    if (!of.ephemeral) expect(differs.others).toEqual(robust);
  }
  const born = opened(world, 'pool', settings('s', 3));
  expect(born).toMatch(TICKET);
  expect(world.answer(A, wire.resize('pool', born, 5))).toBe('R');
  expect(world.answer(A, wire.resize('none', wire.NONE, 5))).toBe(wire.DISPOSED);
  const again = world.answer(B, wire.open('pool', settings('s', 4)));
  expect(wire.openedIn(again)).toEqual({ born, max: 5 });
  expect(`N ${born} 5`).toBe(again);
  const others = wire.openedIn(world.answer(B, wire.open('pool', settings('m', 1)))).others;
  expect(others).toEqual(settings('s', 5, { resized: true }));
  // A process that knows of the resize says so when it opens the semaphore.
  expect(wire.open('pool', others as wire.Settings)[2]).toBe('r');

  const objects = new Map<string, wire.Found>();
  for (let cursor = '0'; ; ) {
    const part = wire.objectsIn(world.answer(A, wire.listObjects(cursor)));
    for (const [name, object] of part.objects) objects.set(name, object);
    cursor = part.next;
    if (cursor === '0') break;
  }
  expect([...objects.keys()].sort()).toEqual(['m', 'pool', 's', 'w']);
  expect(objects.get('m')).toMatchObject({ kind: 'm', max: 1, bypass: 7, free: 1, waiting: 0, deaths: 0 });
  expect(objects.get('pool')).toMatchObject({ kind: 's', resized: true, max: 5, free: 5, born });

  world.answer(A, wire.ask(true, 'pool', born, rid(1), 5));
  for (let i = 2; i <= 6; i++) world.answer(A, wire.ask(true, 'pool', born, rid(i), 1));
  const cancelled = world.answer(B, wire.cancelAll('pool', born, wire.NONE));
  expect(wire.upToIn(cancelled)).toMatch(TICKET);
  expect(`L ${wire.upToIn(cancelled)}`).toBe(cancelled);
  let upTo = wire.upToIn(cancelled);
  while (upTo) upTo = wire.upToIn(world.answer(B, wire.cancelAll('pool', born, upTo)));
  expect(world.answer(B, wire.cancelAll('none', wire.NONE, wire.NONE))).toBe(wire.DISPOSED);
  expect(world.answer(B, wire.dispose('pool', 'f'.repeat(14)))).toBe(wire.DISPOSED);
  for (let i = 2; i <= 6; i++) world.answer(A, wire.ask(true, 'pool', born, rid(i + 10), 1));
  expect(world.answer(B, wire.dispose('pool', born))).toBe(wire.LEFT);
  while (world.answer(B, wire.dispose('pool', born)) === wire.LEFT);
  expect(world.answer(B, wire.inspect('pool'))).toBe(wire.DISPOSED);
  expect(wire.inspectedIn(wire.DISPOSED)).toBeUndefined();
});

test('requests: what becomes of them, in answers and in news', () => {
  const world = new World();
  const born = opened(world, 's', settings('s', 3));
  opened(world, 'm', settings('m', 1, { bypass: 9 }));
  const asks = (sid: string, number: number, permits: number, queues = true, name = 's'): Reply =>
    world.answer(sid, wire.ask(queues, name, wire.NONE, rid(number), permits));
  const held = asks(A, 1, 2);
  expect(written(wire.fateIn(held))).toBe(held);
  const again = asks(A, 1, 2);
  expect(written(wire.fateIn(again), true)).toBe(again);
  expect(wire.fateIn(again)).toMatchObject({ permits: 2 });
  expect(wire.fateIn(asks(B, 1, 2))).toEqual({ is: wire.QUEUED });
  expect(asks(A, 2, 4)).toBe(written(wire.fateIn('M 3')));
  expect(wire.fateIn(asks(A, 3, 3, false))).toEqual({ is: wire.REFUSED });
  expect(wire.fateIn(asks(A, 3, 1, true, 'none'))).toEqual({ is: wire.DISPOSED });
  expect(wire.fateIn(world.answer(A, wire.cancel(rid(4))))).toEqual({ is: wire.UNKNOWN });
  asks(B, 2, 3);
  expect(wire.fateIn(world.answer(B, wire.cancel(rid(2))))).toEqual({ is: wire.CANCELLED });
  expect(wire.fateIn(world.answer(A, wire.cancel(rid(1))))).toMatchObject({ is: wire.HELD, permits: 2 });
  const [, ...states] = world.answer(B, wire.list(wire.START, rid(9), [rid(1), rid(2)])) as string[];
  expect(states.map((state) => wire.fateIn(state).is)).toEqual([wire.QUEUED, wire.UNKNOWN]);
  expect(world.answer(A, wire.mark([rid(1), rid(7)]))).toBe('U');

  // A message grants the rest. It names the request by its number.
  const grant = wire.fateIn(held);
  if (grant.is !== wire.HELD) throw new Error(grant.is);
  const give = (count: number): wire.Arguments =>
    wire.giveBack('s', rid(1), grant.ticket, 2, count, '-', true, 0, [rid(8)]);
  world.messages = [];
  expect(world.answer(A, give(2))).toBe('D');
  expect(world.answer(A, give(2))).toBe(wire.UNKNOWN);
  const [message = ''] = world.messages;
  const { seq, news } = wire.messageIn(message);
  expect(`${seq};${news.join(',')}`).toBe(message);
  expect(seq).toBe(1);
  const [told] = news.map(wire.newsIn);
  expect(`${told?.rid}:${written(told?.fate as wire.Fate).slice(2)}`).toBe(news[0]);
  expect(told).toMatchObject({ rid: rid(1), fate: { is: wire.HELD, waiting: 0 } });

  // B has 2 of 3 permits. Messages tell the waiters and the holder what ends their requests.
  asks(B, 10, 2);
  asks(B, 11, 3);
  world.messages = [];
  world.answer(A, wire.resize('s', born, 2));
  world.answer(A, wire.cancelAll('s', wire.NONE, wire.NONE));
  asks(B, 12, 2);
  world.answer(A, wire.dispose('s', born));
  const second = opened(world, 's', settings('s', 3));
  const theirs = wire.fateIn(asks(B, 13, 2));
  if (theirs.is !== wire.HELD) throw new Error(theirs.is);
  asks(B, 14, 3);
  asks(B, 15, 1);
  world.answer(A, wire.resize('s', second, 2));
  const proof = { sid: B, rid: rid(13), ticket: theirs.ticket };
  expect(world.answer(A, wire.ofProof('V', 's', proof))).toBe(wire.TRUE);
  expect(world.answer(A, wire.ofProof('F', 's', proof))).toBe(wire.TRUE);
  expect(world.answer(A, wire.ofProof('V', 's', proof))).toBe('0');
  const heard = world.messages.flatMap((text) => wire.messageIn(text).news).map(wire.newsIn);
  const fates = heard.map(({ rid: of, fate }) => `${Number.parseInt(of, 16)} ${fate?.is}`);
  expect(fates).toEqual(expect.arrayContaining(['10 C', '11 C', '12 X', '13 F', '14 M', '15 H']));
  expect(heard.find(({ fate }) => fate?.is === wire.TOO_MANY)?.fate).toEqual({ is: wire.TOO_MANY, max: 2 });

  asks(A, 20, 1, true, 'm');
  world.messages = [];
  asks(B, 20, 1, true, 'm');
  asks(A, 21, 1, true, 'm');
  expect(wire.fateIn(asks(A, 20, 1, true, 'm'))).toMatchObject({ is: wire.HELD, lent: 9, waiting: 2 });
});

test('news of waiters, and of grants that are left', () => {
  const world = new World();
  opened(world, 'm', settings('m', 1, { bypass: 9 }));
  world.answer(B, wire.ask(true, 'm', wire.NONE, rid(1), 1));
  world.messages = [];
  world.answer(A, wire.ask(true, 'm', wire.NONE, rid(1), 1));
  const [news = ''] = wire.messageIn(world.messages[0] as string).news;
  expect(wire.newsIn(news)).toEqual({ rid: rid(1), fate: undefined });
  expect(`!${rid(1)}`).toBe(news);

  opened(world, 's', settings('s', 9));
  const all = wire.fateIn(world.answer(A, wire.ask(true, 's', wire.NONE, rid(2), 9)));
  if (all.is !== wire.HELD) throw new Error(all.is);
  for (let i = 3; i <= 7; i++) world.answer(A, wire.ask(true, 's', wire.NONE, rid(i), 1));
  const [, entries] = world.call(A, wire.giveBack('s', rid(2), all.ticket, 9, 9, '-', false, 0, []));
  expect(entries.at(-1)).toBe(wire.LEFT);
  expect(entries.slice(0, -1).map((entry) => wire.newsIn(entry).fate?.is)).toEqual([wire.HELD, wire.HELD]);
  const answer = world.answer(A, wire.beat(wire.NONE));
  expect(wire.beatIn(answer).isLeft).toBe(true);
});

test('what inspect tells: entries, records, sessions and times', () => {
  const world = new World();
  const name = 'sémaphore'; // Lengths count bytes, not characters.
  const bytes = Buffer.from(name).toString('latin1');
  opened(world, bytes, settings('s', 3));
  const fates = [3, 2, 2].map((permits, i) =>
    wire.fateIn(world.answer(i === 1 ? B : A, wire.ask(true, bytes, wire.NONE, rid(i + 1), permits))),
  );
  const [holds] = fates;
  if (holds?.is !== wire.HELD) throw new Error(holds?.is);
  world.answer(A, wire.mark([rid(1)]));
  const answer = world.answer(A, wire.inspect(bytes, 2)) as [
    string,
    string[],
    string[],
    string,
    string[],
    string[],
    string,
  ];
  const told = wire.inspectedIn(answer);
  if (!told) throw new Error('there is none');
  const [text, entries, records, next, sessions, times, now] = answer;
  const { object, queue, holders, labels } = told;
  expect(`I ${asFixed(object)} ${object.free} ${object.waiting} ${object.deaths} ${object.bypass}`).toBe(text);
  const hex8 = (permits: number): string => wire.hex(permits, 8);
  const passes = '0'.repeat(14);
  expect(
    queue.map(
      ({ sid, rid, ticket, permits, at = 0 }) =>
        `${bytes}\0${ticket}${sid}${rid}${hex8(permits)}${passes}${wire.hex(at, 11)}`,
    ),
  ).toEqual(entries);
  expect(holders.map(({ sid, rid, ticket, permits }) => `${sid}${rid}${ticket}${hex8(permits)}${bytes}`)).toEqual(
    records,
  );
  expect(holders.map(({ at }) => `${at ?? ''}`)).toEqual(times);
  expect(labels.map(([sid, label]) => `${sid} 0 2 ${label}`)).toEqual(sessions);
  expect(`${told.now}`).toBe(now);
  expect(told.next).toBe(next);
  expect(holders).toHaveLength(1);
  expect(queue.map(({ rid }) => rid)).toEqual([rid(2), rid(3)]);
  // The next call goes on behind the last entry.
  const more = wire.inspectedIn(world.answer(A, wire.inspect(bytes, 2, wire.placeBehind(queue[0]?.ticket as string))));
  expect(more?.queue.map(({ rid }) => rid)).toEqual([rid(3)]);
  const none = wire.inspectedIn(world.answer(A, wire.inspect(bytes, 2, wire.END, wire.END)));
  expect([none?.queue, none?.holders]).toEqual([[], []]);

  const space = world.answer(A, wire.inspectSpace(wire.LOWEST)) as string[];
  const { epoch, last, next: behind, labels: all } = wire.spaceIn(space);
  expect(`J ${epoch} ${world.history} ${last} ${behind}`).toBe(space[0]);
  expect(all.map(([sid, label]) => `${sid} 0 2 ${label}`)).toEqual(space.slice(1));
  expect(wire.scoreOf(behind)).toBe(Number.POSITIVE_INFINITY);
  for (let i = 0; i < 3; i++) world.enter(`p0000000000000${i}f`);
  const part = wire.spaceIn(world.answer(A, wire.inspectSpace(wire.LOWEST)));
  expect(part.next).toMatch(/^\(\d+$/);
  expect(wire.scoreOf(part.next)).toBe(Number(part.next.slice(1)));
});

test('proofs and tokens', () => {
  const proof = { sid: B, rid: rid(13), ticket: '0123456789abcd' };
  expect(wire.proofIn(wire.writeProof(proof))).toEqual(proof);
  for (const text of ['', 7, undefined, wire.writeProof({ ...proof, sid: 'x' })])
    expect(wire.proofIn(text)).toBeUndefined();
  expect(wire.tokenOf('00000000000010', 3)).toBe(16n * 4096n + 3n);
});
