/**
 * One of the processes of a run. Its tasks take permits and locks of the shared objects, give up, look at the objects,
 * and write to the register. They note all that they do, by one line for each step. A task writes the line of a step
 * before it begins the next step. So if a process is killed, its file shows what it did up to its last step.
 *
 *   a ID NAME N TRY T     asks for N permits        f ID T WHY           has not got them: R refused, T time-out, A abort
 *   g ID T TOKEN SID      has got them              l ID T               held them at T
 *   b ID T K NUMBER       gives K of them back      e ID T NUMBER        the give-back is answered
 *   x ID T                holds them no more: the lease was lost before T
 *   n RID T               a call that asks for the request RID of the server was refused, or its connection is lost
 *
 * Without a server, a holder of all permits also makes a file for as long as it holds them, which must not exist yet.
 *
 * T is the monotonic clock of the machine in microseconds, which all processes of Node share. Deno and Bun cannot read
 * it. So if one of them takes part, T is the time of day in whole milliseconds: a beginning is rounded down, an end up.
 */
import { linkSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Connections } from '../src/drivers/connections.js';
import { LeaseLostError, type Mutex, type RwLock, type Semaphore, Space } from '../src/index.js';
import { localDriver } from '../src/local/index.js';
import { type Held, type HeldLock, HeldPermits, type HeldRead, HeldWrite } from '../src/objects/hold.js';
import { connect } from './connect.js';
import { type Command, type Order, PLANS, type Plan, type Report } from './plan.js';

const order = JSON.parse(process.argv[2] as string) as Order;
const file = openSync(order.file, 'a');
const note = (...words: (string | number | bigint)[]): void => void writeSync(file, `${words.join(' ')}\n`);
const tell = (report: Report): void => void process.send?.(report);
const now = (): number => {
  if (order.isRough) return Date.now() * 1000;
  const [seconds, nanoseconds] = process.hrtime();
  return Math.round(seconds * 1e6 + nanoseconds / 1e3);
};
/** The present time, as the end of something. */
const ended = (): number => now() + (order.isRough ? 1000 : 0);
const chance = (part: number): boolean => Math.random() < part;
const upTo = (most: number): number => Math.floor(Math.random() * (most + 1));

let isDraining = false;
let last = 0;
const answers = new Map<number, (version: number | undefined) => void>();
let begin = (): void => undefined;
const begun = new Promise<void>((resolve) => {
  begin = resolve;
});
let leave = (): void => undefined;
const told = new Promise<void>((resolve) => {
  leave = resolve;
});
process.on('message', (command: Command) => {
  if (command.is === 'begin') begin();
  else if (command.is === 'drain') isDraining = true;
  else if (command.is === 'leave') leave();
  else {
    answers.get(command.id)?.(command.version);
    answers.delete(command.id);
  }
});
process.on('disconnect', () => process.exit(1));
process.on('unhandledRejection', (error) => {
  tell({ is: 'trouble', text: `unhandled rejection: ${(error as Error)?.stack ?? error}` });
});

/** Reads the register, or writes to it if `base` is given. Resolves to the version, or undefined if refused. */
function register(name: string, token: bigint, base?: number): Promise<number | undefined> {
  const id = ++last;
  return new Promise((resolve) => {
    answers.set(id, resolve);
    tell({ is: 'register', id, name, token: `${token}`, ...(base === undefined ? {} : { base }) });
  });
}

/** Returns and notes whether the guard holds. The time is taken before the look, so the guard held at this time. */
function looks(id: number, held: Held): boolean {
  const at = now();
  if (held.held) {
    note('l', id, at);
    return true;
  }
  note('x', id, now());
  return false;
}

/** In the flags of a process: it is ending. */
const PF_EXITING = 4;

/**
 * Whether the process has ended, or is ending: it runs no more of its code. One that was killed may still have a number,
 * because its parent has not heard of it, or because the kernel has closed its sockets and not yet done the rest.
 */
function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Behind the name: the state, five numbers, and the flags.
    const [state, , , , , , flags] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || (Number(flags) & PF_EXITING) !== 0;
  } catch {
    return true;
  }
}

/** Makes the file of a section, and returns what removes it. The file of a process that has ended does not count. */
function section(directory: string, name: string): () => void {
  const [mine, file] = [`${directory}/${process.pid}`, `${directory}/section-${name}`];
  writeFileSync(mine, `${process.pid}`);
  while (true) {
    try {
      linkSync(mine, file);
      return () => unlinkSync(file);
    } catch {
      const pid = Number(readFileSync(file, 'latin1'));
      if (hasEnded(pid)) unlinkSync(file);
      else {
        tell({ is: 'trouble', text: `${name}: the processes ${pid} and ${process.pid} hold it at once` });
        return () => {};
      }
    }
  }
}

async function work(id: number, plan: Plan, held: Held, permits: number): Promise<void> {
  if (!looks(id, held)) return;
  if (order.address.kind !== 'local' || permits < plan.max) return use(plan, held, permits);
  const leaveSection = section(order.address.directory, plan.name);
  try {
    await use(plan, held, permits);
  } finally {
    leaveSection();
  }
}

async function use(plan: Plan, held: Held, permits: number): Promise<void> {
  const pause = chance(0.5) ? upTo(2) : 0;
  if (plan.isFenced && permits === plan.max) {
    // Some tasks do not look again before they write. The register refuses a write that comes too late.
    const isCareful = chance(0.5);
    const base = await register(plan.name, held.token);
    if (pause > 0) await sleep(pause);
    if (base !== undefined && !(isCareful && held.signal.aborted)) await register(plan.name, held.token, base);
  } else if (pause > 0) await sleep(pause);
}

let gaveBack = 0;

async function giveBack(id: number, held: Held, permits: number): Promise<void> {
  const waits = chance(0.5);
  const number = ++gaveBack;
  const at = now();
  if (!held.held) {
    note('x', id, now());
    return;
  }
  note('b', id, at, permits, number);
  const given =
    held instanceof HeldPermits ? held.release(permits) : (held as HeldLock | HeldRead | HeldWrite).unlock();
  const answered = given.then(() => note('e', id, ended(), number));
  if (waits) await answered;
}

type Take = (options?: { timeout?: number; signal?: AbortSignal }) => Promise<Held>;
type Try = () => Promise<Held | undefined>;

function ways(handle: Semaphore | Mutex | RwLock, plan: Plan, permits: number): { take: Take; attempt: Try } {
  if (plan.kind === 'semaphore') {
    const semaphore = handle as Semaphore;
    return { take: (o) => semaphore.holdAsync(permits, o), attempt: () => semaphore.tryHold(permits) };
  }
  if (plan.kind === 'mutex') {
    const mutex = handle as Mutex;
    return { take: (o) => mutex.holdAsync(o), attempt: () => mutex.tryHold() };
  }
  const lock = handle as RwLock;
  return permits === 1
    ? { take: (o) => lock.readAsync(o), attempt: () => lock.tryRead() }
    : { take: (o) => lock.writeAsync(o), attempt: () => lock.tryWrite() };
}

async function turn(id: number, plan: Plan, handle: Semaphore | Mutex | RwLock): Promise<void> {
  const permits = plan.kind === 'rwlock' ? (chance(0.7) ? 1 : plan.max) : 1 + upTo(plan.max - 1);
  const { take, attempt } = ways(handle, plan, permits);
  const tries = chance(0.1);
  const givesUp = plan.givesUp && !tries ? upTo(9) : 9;
  const aborter = new AbortController();
  const options = givesUp === 0 ? { timeout: 1 + upTo(300) } : givesUp === 1 ? { signal: aborter.signal } : undefined;
  const abort = givesUp === 1 ? setTimeout(() => aborter.abort(), upTo(300)) : undefined;
  note('a', id, plan.name, permits, tries ? 1 : 0, now());
  let held: Held | undefined;
  try {
    held = await (tries ? attempt() : take(options));
  } catch (error) {
    const { name, message } = error as Error;
    const why =
      name === 'TimeoutError' ? 'T' : name === 'AbortError' ? 'A' : error instanceof LeaseLostError ? 'L' : 'E';
    note('f', id, ended(), why);
    if (why === 'E') tell({ is: 'trouble', text: `${plan.name}: ${name}: ${message}` });
    return;
  } finally {
    clearTimeout(abort);
  }
  if (!held) {
    note('f', id, ended(), 'R');
    return;
  }
  const [session = '', rid = ''] = held.proof.split('.');
  note('g', id, ended(), held.token, session, rid);
  await work(id, plan, held, permits);
  if (held instanceof HeldWrite && chance(0.3)) {
    const at = now();
    if (!held.held) return note('x', id, now());
    note('b', id, at, permits - 1, ++gaveBack);
    const reading = held.downgrade();
    await tick();
    await giveBack(id, reading, 1);
  } else if (held instanceof HeldPermits && permits > 1 && chance(0.3)) {
    await giveBack(id, held, 1);
    await tick();
    await giveBack(id, held, permits - 1);
  } else {
    await giveBack(id, held, permits);
  }
}

const NAMES: ReadonlySet<unknown> = new Set(PLANS.map(({ name }) => name));

/** Notes the requests in a call of the script that has failed. */
function noteRefusal(args: readonly string[]): void {
  for (const [i, letter] of args.entries())
    if ((letter === 'A' || letter === 'T') && NAMES.has(args[i + 1])) note('n', args[i + 3] as string, now());
}

// Each call goes through a driver: that without a server, or that of a server.
const local = Object.getPrototypeOf(localDriver(() => '')) as ReturnType<typeof localDriver>;
for (const driver of [local, Connections.prototype]) {
  const { run } = driver;
  driver.run = function (this: never, script, keys, args) {
    const reply = run.call(this, script, keys, args);
    reply.catch(() => noteRefusal(args));
    return reply;
  };
}

// A server of Redis may also refuse a call that the driver then repeats.
type Call = (command: string, args: readonly string[]) => Promise<unknown>;
const connection = Redis.prototype as unknown as { call: Call };
const { call: send } = connection;
connection.call = function (this: unknown, command, args) {
  const reply = send.call(this, command, args);
  if (command.startsWith('EVAL')) reply.catch(() => noteRefusal(args));
  return reply;
};

tell({ is: 'loaded' });
await begun;
const { address, lease } = order;
const options = { space: order.space, label: order.label, connectTimeout: 120_000 };
const space =
  address.kind === 'local'
    ? await Space.local({ ...options, directory: address.directory })
    : await connect(address, { ...options, lease });
space.on('error', (error) => tell({ is: 'trouble', text: `the space: ${(error as Error)?.message}` }));
const handles = await Promise.all(
  PLANS.map(({ name, kind, max, bypass }) =>
    kind === 'semaphore'
      ? space.semaphore(name, max)
      : kind === 'mutex'
        ? space.mutex(name, { bypass })
        : space.rwLock(name),
  ),
);
tell({ is: 'joined' });
let ids = 0;
await Promise.all(
  Array.from({ length: order.tasks }, async () => {
    while (!isDraining) {
      const which = upTo(PLANS.length - 1);
      await turn(++ids, PLANS[which] as Plan, handles[which] as Semaphore);
      await tick();
    }
  }),
);
tell({ is: 'drained' });
await told;
await space.close();
process.exit(0);
