/**
 * An exception ends a call of a channel or a watch midway, and the thread survives it: the `timeout` of node:vm passes,
 * or the stack is exhausted. The channel goes on, at once for the thread itself. No message comes twice, and what the
 * cut call has lost is counted.
 */
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import {
  Channel,
  type Codec,
  type Message,
  number,
  type Place,
  receiving,
  select,
  selectAsync,
  sending,
  Watch,
} from 'taketurns/channel';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { E_HELD, E_TOOK_COUNT, E_UNREAD, REFUSED } from '../../src/border/numbers.js';
import { roundsInCi } from '../support/rounds.js';
import { nearTheEnd } from '../support/stack.js';
import { turn } from '../support/until.js';

const CAPACITY = 4;

// An exception can end a call where a function begins. An optimising compiler puts small functions into their callers,
// and then no call can end there. A program meets such ends before its code is optimised.
setFlagsFromString('--no-opt');
setFlagsFromString('--no-maglev');

/**
 * Makes calls, as the text of a loop, until a time-out of a millisecond cuts round i. The calls begin somewhere in this
 * millisecond, so that few calls come before the cut, or many.
 */
function cutsShort(loop: string, i: number): void {
  const SHARES = 17;
  const text = `{ const begin = performance.now() + ${(i % SHARES) / SHARES}; while (performance.now() < begin); ${loop} }`;
  expect(() => runInThisContext(text, { timeout: 1 })).toThrow(/timed out/);
}

/** What the calls have come to. The program notes a message after the call that has sent or received it. */
interface Notes {
  readonly c: Channel<number>;
  next: number;
  sent: number[];
  got: number[];
  readonly promises: Promise<unknown>[];
  place: Place | undefined;
  message: Message | undefined;
  readonly receives: () => number;
  readonly sends: (value: number) => void;
  /** A promise whose work is cut short rejects. */
  readonly ignores: () => void;
}

/** A codec that runs code of the user. */
const user: Codec<number> = {
  name: 'user',
  encode(value, { f64 }) {
    f64[0] = value;
    return 8;
  },
  decode: ({ f64 }) => f64[0] as number,
};

/** One round of calls, as the text of a function of `x`. */
const rounds: Record<string, readonly [codec: Codec<number>, text: string]> = {
  'send, receive': [number, 'const k = x.next++; x.c.send(k); x.sent.push(k); x.got.push(x.c.receive());'],
  'send, receive by a codec': [user, 'const k = x.next++; x.c.send(k); x.sent.push(k); x.got.push(x.c.receive());'],
  'trySend, tryReceive': [
    user,
    'const k = x.next++; if (x.c.trySend(k)) x.sent.push(k); const r = x.c.tryReceive(); if (r) x.got.push(r.value);',
  ],
  'sendMany, receiveMany': [
    user,
    'const k = x.next; x.next += 3; x.c.sendMany([k, k + 1, k + 2]); x.sent.push(k, k + 1, k + 2); x.got.push(...x.c.receiveMany(4));',
  ],
  'reserve, take': [
    number,
    `const k = x.next++; x.place = x.c.reserve(); new DataView(x.place.bytes.buffer, x.place.bytes.byteOffset).setFloat64(0, k, true);
     x.place.commit(8); x.place = undefined; x.sent.push(k); x.message = x.c.take();
     const m = new DataView(x.message.bytes.buffer, x.message.bytes.byteOffset).getFloat64(0, true); x.message[Symbol.dispose]();
     x.message = undefined; x.got.push(m);`,
  ],
  select: [user, 'const k = x.next++; x.sends(k); x.sent.push(k); x.got.push(x.receives());'],
  'sendAsync, receiveAsync': [
    user,
    'const k = x.next++; x.promises.push(x.c.sendAsync(k).then(() => x.sent.push(k), x.ignores), x.c.receiveAsync().then((m) => x.got.push(m), x.ignores));',
  ],
  'receiveAsync, sendAsync': [
    user,
    'const k = x.next++; x.promises.push(x.c.receiveAsync().then((m) => x.got.push(m), x.ignores), x.c.sendAsync(k).then(() => x.sent.push(k), x.ignores));',
  ],
  // The promises have permits, and take their turn when the message is over.
  'take, receiveAsync behind the message': [
    number,
    `const k = x.next; x.next += 3; x.c.sendMany([k, k + 1, k + 2]); x.sent.push(k, k + 1, k + 2); x.message = x.c.take();
     x.promises.push(x.c.receiveAsync().then((m) => x.got.push(m), x.ignores), x.c.receiveAsync().then((m) => x.got.push(m), x.ignores));
     const m = new DataView(x.message.bytes.buffer, x.message.bytes.byteOffset).getFloat64(0, true); x.message[Symbol.dispose]();
     x.message = undefined; x.got.push(m);`,
  ],
};
/** The most messages that a call of these rounds takes. */
const MOST = 4;

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 8, threads: 4, waiters: 4096 });
});

function notesOf(codec: Codec<number>): Notes {
  const c = new Channel<number>({ codec, capacity: CAPACITY, arena });
  return {
    c,
    next: 0,
    sent: [],
    got: [],
    promises: [],
    place: undefined,
    message: undefined,
    receives: () => select([receiving(c)]).value as number,
    sends: (value) => void select([sending(c, value)]),
    ignores: () => {},
  };
}

/** What the thread notes at an end of a channel. */
interface End {
  readonly words: Int32Array;
  readonly record: number;
  /** How many unread messages belong to promises and selects that have not decoded them yet. */
  readonly inTransit: number;
  claim(n: number): number;
  tryClaim(most: number): number;
  claimAsync(...given: unknown[]): Promise<unknown>;
}

/** Returns the two ends of a channel, which are no names of its class. */
function endsOf(channel: object): End[] {
  const own = Object.getOwnPropertySymbols(channel).map((key) => Reflect.get(channel, key));
  const { sending, receiving } = own.find((one) => one?.sending !== undefined);
  return [sending, receiving];
}

/** Returns how many permits the thread holds at each end of a channel, and how many places it has claimed there. */
function kept(channel: object): (number | undefined)[][] {
  return endsOf(channel).map(({ words, record }) => [words[(record + E_HELD) / 4], words[(record + E_TOOK_COUNT) / 4]]);
}

/**
 * Ends what the program has in hand, takes what is left in the channel, and sends and receives as much as it has room
 * for.
 */
async function check(x: Notes, turnsFirst: boolean): Promise<void> {
  const { c } = x;
  x.place?.[Symbol.dispose]();
  x.message?.[Symbol.dispose]();
  x.place = x.message = undefined;
  if (turnsFirst || x.promises.length > 0) await turn();
  const drain = (): void => {
    for (let r = c.tryReceive(); r !== undefined; r = c.tryReceive()) x.got.push(r.value);
  };
  drain();
  // If a call was cut short that sends, this call leaves a hole in its place, which a receiver passes on.
  c.trySend(x.next++);
  drain();
  // A promise may wait for what the cut call did not send. It gets another message.
  for (let left = 2 * x.promises.length; left > 0 && c.waiting > 0; left--) {
    c.trySend(x.next++);
    await turn();
    drain();
  }
  // A promise that has got its permit by the last of these calls still sends its message.
  if (x.promises.length > 0) {
    do {
      drain();
      await turn();
    } while (c.size > 0);
  }
  expect(c.waiting).toBe(0);
  for (let i = 0; i < CAPACITY; i++) expect(c.trySend(-1 - i)).toBe(true);
  expect([c.trySend(-9), c.size]).toEqual([false, CAPACITY]);
  for (let i = 0; i < CAPACITY; i++) expect(c.tryReceive()).toEqual({ value: -1 - i });
  expect([c.tryReceive(), c.size]).toEqual([undefined, 0]);
  expect(kept(c)).toEqual([
    [0, 0],
    [0, 0],
  ]);
  // What a cut call has left unread counts when the thread has been at its event loop.
  await turn();
  let settled = 0;
  for (const promise of x.promises) promise.then(() => settled++);
  await turn();
  expect(settled).toBe(x.promises.length);
  const seen = new Set(x.got);
  expect(x.got.length).toBe(seen.size);
  const missing = x.sent.filter((k) => !seen.has(k)).length;
  // A cut may come when a call has returned and the program has not noted its messages yet.
  expect(missing - c.inspect().lost).toBeLessThanOrEqual(MOST * x.promises.length + MOST);
  x.promises.length = 0;
}

describe.each([
  ['at once', false],
  ['from its event loop', true],
])('after a cut call the channel goes on, when the thread uses it %s', (_when, turnsFirst) => {
  it.each(Object.entries(rounds))('%s, cut by a time-out', async (_name, [codec, text]) => {
    for (let i = 0; i < roundsInCi(60, 20); i++) {
      const x = notesOf(codec);
      Object.assign(globalThis, { x });
      // Few promises: each stays in the arena until it is settled.
      const loop = text.includes('Async')
        ? `for (let i = 0; ; i++) { if (i < 500) { ${text} } }`
        : `for (;;) { ${text} }`;
      cutsShort(loop, i);
      // A promise that has its permit may be cut short where it takes its place. It goes on from the event loop.
      await check(x, turnsFirst || text.includes('Async'));
      x.c.dispose();
    }
  });

  it.each(Object.entries(rounds))('%s, cut by an exhausted stack', async (_name, [codec, text]) => {
    const round = runInThisContext(`(x) => { ${text} }`) as (x: Notes) => void;
    const x = notesOf(codec);
    // An engine may not compile a function where the stack ends.
    for (let i = 0; i < 20; i++) {
      round(x);
      await check(x, true);
    }
    let fails = 0;
    for (let above = 0, fits = 0; fits < 10; above++) {
      const isOver = nearTheEnd(above, () => {
        round(x);
        return true;
      });
      if (isOver === undefined) fails++;
      else fits++;
      await check(x, turnsFirst);
    }
    expect(fails).toBeGreaterThan(0);
  });
});

/** Calls as the text of a function of `x`, whose `keeps` takes a promise. */
const keeping: Record<string, string> = {
  'select of both ends': 'x.select([x.receiving(x.c), x.sending(x.c, 1)]);',
  selectAsync: 'x.keeps(x.selectAsync([x.receiving(x.c)])); x.c.trySend(1);',
  'selectAsync of a channel twice':
    'x.keeps(x.selectAsync([x.receiving(x.c), x.receiving(x.c)])); x.c.trySend(1); x.keeps(x.selectAsync([x.receiving(x.c)]));',
  receiveAsync: 'x.keeps(x.c.receiveAsync()); x.c.trySend(1);',
  receiveManyAsync: 'x.keeps(x.c.receiveManyAsync(3)); x.c.trySend(1); x.c.trySend(2);',
};

describe('a cut call leaves no message unread for ever, and no rejection that the program could not handle', () => {
  it.each(Object.entries(keeping))('%s', async (_name, text) => {
    const REQUESTS = 400;
    const loop = text.includes('Async')
      ? `for (let i = 0; ; i++) { if (i < ${REQUESTS}) { ${text} } }`
      : `for (;;) { ${text} }`;
    for (let i = 0; i < roundsInCi(150, 50); i++) {
      const c = new Channel<number>({ codec: user, capacity: CAPACITY, arena });
      const keeps = (promise: Promise<unknown>): void => void promise.catch(() => {});
      Object.assign(globalThis, { x: { c, keeps, receiving, select, selectAsync, sending } });
      cutsShort(loop, i);
      await turn();
      // Nobody handles a rejection of a promise whose call was cut, so each of them gets a message.
      while (c.waiting > 0) {
        while (c.trySend(3));
        await turn();
      }
      while (c.tryReceive() !== undefined);
      await turn();
      const notes = endsOf(c).map(({ words, record, inTransit }) => [words[(record + E_UNREAD) / 4], inTransit]);
      expect(notes).toEqual([
        [0, 0],
        [0, 0],
      ]);
      c.dispose();
    }
  });
});

it.each([
  ['receiveAsync', (c: Channel<number>) => c.receiveAsync()],
  ['receiveManyAsync', (c: Channel<number>) => c.receiveManyAsync(2)],
])('a message that %s has taken is lost if the call is cut short before it returns its promise', async (_, receive) => {
  const { c } = notesOf(user);
  c.send(1);
  const [, end] = endsOf(c) as [End, End];
  const { claimAsync, tryClaim } = end;
  // The message seems to come only after the first look for one.
  end.tryClaim = () => {
    end.tryClaim = tryClaim;
    return REFUSED;
  };
  end.claimAsync = (...given) => {
    claimAsync.apply(end, given);
    for (;;);
  };
  Object.assign(globalThis, { run: () => receive(c) });
  expect(() => runInThisContext('run()', { timeout: 20 })).toThrow(/timed out/);
  await turn();
  expect([end.words[(end.record + E_UNREAD) / 4], end.inTransit]).toEqual([0, 0]);
  expect([c.size, c.inspect().lost]).toEqual([0, 1]);
  c.dispose();
});

it.each([
  ['receiveAsync', (c: Channel<number>) => c.receiveAsync()],
  ['receiveManyAsync', (c: Channel<number>) => c.receiveManyAsync(2)],
])('a message that %s has taken is lost if its promise rejects all the same', async (_, receive) => {
  const { c } = notesOf(user);
  const [, end] = endsOf(c) as [End, End];
  const { claimAsync } = end;
  // As if the stack was exhausted between the copy and the end of the promise.
  end.claimAsync = async (...given) => {
    await claimAsync.apply(end, given);
    throw new RangeError('exhausted');
  };
  const received = receive(c);
  c.send(1);
  await expect(received).rejects.toThrow('exhausted');
  expect(end.inTransit).toBe(0);
  c.dispose();
});

it.each([
  ['receiveAsync', (c: Channel<number>) => c.receiveAsync()],
  ['receiveManyAsync', (c: Channel<number>) => c.receiveManyAsync(2)],
  ['sendAsync', (c: Channel<number>) => c.sendAsync(1)],
])(
  'a promise of %s claims once with its permit, also if its claim is cut short as soon as it is made',
  async (_, wait) => {
    const x = notesOf(user);
    const { c } = x;
    const sends = wait.toString().includes('send');
    if (sends) while (c.trySend(x.next++));
    x.promises.push(wait(c).then(x.ignores, x.ignores));
    let claims = 0;
    for (const end of endsOf(c)) {
      const claim = end.claim;
      end.claim = (n) => {
        const place = claim.call(end, n);
        // Only the time-out ends this, and no code of the library sees that exception.
        if (claims++ === 0) for (;;);
        return place;
      };
    }
    // The first call makes the permit, and the second one settles the promise.
    const run = sends ? () => [c.tryReceive(), c.trySend(x.next++)] : () => [c.trySend(x.next++), c.tryReceive()];
    Object.assign(globalThis, { run });
    expect(() => runInThisContext('run()', { timeout: 20 })).toThrow(/timed out/);
    await check(x, false);
    c.dispose();
  },
);

it.each([
  ['set', 'for (;;) w.set(1);'],
  ['setAsync', 'for (let i = 0; ; i++) if (i < 500) w.setAsync(1).catch(() => {});'],
])('another thread may set a watch after a cut call of %s', async (_, text) => {
  const w = new Watch(0, { codec: number, arena });
  const code = `const { parentPort, workerData } = require('node:worker_threads');
    const { Watch, number } = require('taketurns/channel');
    const w = Watch.from(workerData, number);
    parentPort.on('message', (k) => parentPort.postMessage(w.set(k, { timeout: 20_000 })));`;
  const worker = new Worker(code, { eval: true, workerData: w.handle });
  onTestFinished(async () => void (await worker.terminate()));
  for (let i = 0; i < 30; i++) {
    Object.assign(globalThis, { w });
    expect(() => runInThisContext(`{ ${text} }`, { timeout: 1 + (i % 3) })).toThrow(/timed out/);
    await turn();
    worker.postMessage(-1 - i);
    await once(worker, 'message');
    expect(w.get()).toBe(-1 - i);
  }
});
