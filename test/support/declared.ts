/** The calls of the public classes and functions of `taketurns`, and good arguments for them. */
import { readdirSync, readFileSync } from 'node:fs';
import * as main from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import * as channel from 'taketurns/channel';
import * as keyed from 'taketurns/keyed';
import * as metrics from 'taketurns/metrics';
import * as p0514 from 'taketurns/p0514';
import * as report from 'taketurns/report';
import * as sync from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';
import { type Call, type Callable, callsIn, type Exports } from './declarations.js';

export const threads = {
  ...main,
  ...algorithms,
  ...channel,
  ...keyed,
  ...metrics,
  ...p0514,
  ...report,
  ...sync,
} as unknown as Exports;
export const ofTasks = tasks as unknown as Exports;

const build = new URL('../../dist/', import.meta.url);

/** All calls of the public classes and functions. */
export const calls = readdirSync(build, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.d.ts') && !name.startsWith('types/'))
  .flatMap((name) => {
    const text = readFileSync(new URL(name, build), 'utf8');
    const worlds = name.startsWith('common') ? [threads, ofTasks] : [name.startsWith('tasks') ? ofTasks : threads];
    return worlds.flatMap((all) => callsIn(all, text));
  })
  // `channelOf` is also an internal function of channels.
  .filter(({ parameters }) => parameters[0]?.name !== 'membership')
  .map((call) => (call.all === ofTasks ? { ...call, name: `tasks.${call.name}` } : call));

const run = (): never => {
  throw new SyntaxError('it must not run');
};

/** What a call gets for a parameter of this name before the one that a test is about. */
const values: Record<string, () => unknown> = {
  name: () => 'declared',
  arena: () => undefined,
  options: () => undefined,
  permits: () => 1,
  parties: () => 1,
  count: () => 1,
  bypass: () => 1,
  value: () => 1,
  values: () => [new Uint8Array(1)],
  most: () => 1,
  since: () => 0,
  per: () => 1,
  keys: () => [1],
  desired: () => 0,
  channel: () => new channel.Channel(),
  metrics: () => [],
  meter: () => ({ addBatchObservableCallback() {} }),
  read: () => () => [],
  channels: () => ({ channel: () => ({}) }),
  inner: () => new algorithms.TtsLock(),
  mutex: () => new main.Mutex(),
  run: () => run,
  ready: () => run,
  fn: () => run,
  satisfied: () => run,
  key: () => 1,
  sequence: () => -1n,
  array: () => new Int32Array(new SharedArrayBuffer(4)),
  index: () => 0,
  old: () => 1,
  ms: () => 0,
  epochMs: () => 0,
  notify: () => p0514.Notify.all,
  cases: () => [channel.acquiring(new main.Semaphore(1))],
  semaphore: () => new main.Semaphore(1),
  watch: () => new channel.Watch(new Uint8Array(1)),
  worker: () => ({ on() {}, once() {} }),
};

/** Makes an object, if `new Class()` does not make it. Objects of tasks have the constructors of the others. */
const objects: Record<string, (all: typeof tasks) => unknown> = {
  Semaphore: (all) => new all.Semaphore(1),
  KeyedSemaphore: (all) => new all.KeyedSemaphore(1),
  KeyedRateLimiter: (all) => new all.KeyedRateLimiter(1, 1),
  RateLimiter: (all) => new all.RateLimiter(1, 1),
  Latch: (all) => new all.Latch(1),
  Barrier: (all) => new all.Barrier(2),
  HeldUpdate: (all) => new all.RwLock().updateAsync(),
  HeldPermits: (all) => new all.Semaphore(1).tryHold(),
  Condition(all) {
    const mutex = new all.Mutex();
    mutex.tryLock();
    return new all.Condition(mutex);
  },
  Watch: () => new channel.Watch(new Uint8Array(1)),
  Place: () => new channel.Channel().reserve(),
  MultilaneSemaphore: () => new algorithms.MultilaneSemaphore(1),
  TicketSemaphore: () => new algorithms.TicketSemaphore(1),
  TwaSemaphore: () => new algorithms.TwaSemaphore(1),
  ChainSemaphore: () => new algorithms.ChainSemaphore(1),
  ChannelSemaphore: () => new algorithms.ChannelSemaphore(1),
  LocationSemaphore: () => new algorithms.LocationSemaphore(1),
  BinarySemaphore: () => new p0514.BinarySemaphore(1),
  CountingSemaphore: () => new p0514.CountingSemaphore(1),
  Capacitor: () => new algorithms.Capacitor(1),
  CapacitorLock: () => new algorithms.CapacitorLock(new algorithms.TtsLock()),
  WaitChannel: () => algorithms.channelOf(1),
  WaitLocation: () => algorithms.locationOf(1),
};

/** The functions that make a case of a select. */
const MAKE_CASES = ['acquiring', 'changing', 'receiving', 'sending'];

/** Calls with this value for the parameter of this number, and with good ones for those before it. */
export async function callWith(call: Call, index: number, value: unknown): Promise<unknown> {
  const { all, owner, method, isStatic, parameters } = call;
  const Class = all[owner] as Callable;
  const args = await Promise.all(parameters.slice(0, index).map(({ name }) => valueFor(call, name)));
  args.push(value);
  if (method === undefined) {
    const answer = (Class as unknown as (...args: unknown[]) => unknown)(...args);
    // A case of a select is checked when the select begins.
    return MAKE_CASES.includes(owner) ? channel.trySelect([answer as channel.Case]) : answer;
  }
  if (method === 'constructor') return new Class(...args);
  const it = (isStatic ? Class : await objectOf(all, owner)) as Callable;
  return it[method]?.(...args);
}

async function valueFor({ all, owner }: Call, name: string): Promise<unknown> {
  if (name === 'handle') return ((await objectOf(all, owner)) as { readonly handle: unknown }).handle;
  const make = values[name];
  if (!make) throw new Error(`declared.ts has no value for a parameter ${name}`);
  return make();
}

function objectOf(all: Exports, owner: string): unknown {
  const world = (all === ofTasks ? tasks : threads) as unknown as typeof tasks;
  return objects[owner]?.(world) ?? new (all[owner] as Callable)();
}
