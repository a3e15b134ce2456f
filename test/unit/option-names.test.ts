/**
 * An option with an unknown name is an error in every call that takes options, and the error names the option that was
 * meant. The test finds the calls in the declarations of the build, so it misses none.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import * as main from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import * as keyed from 'taketurns/keyed';
import * as metrics from 'taketurns/metrics';
import * as p0514 from 'taketurns/p0514';
import * as report from 'taketurns/report';
import * as sync from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';
import { describe, expect, it } from 'vitest';
import { failure } from '../support/failure.js';

const { Mutex, Semaphore, TimeoutError } = main;

/** A class or a function, or an object with methods. */
type Callable = (new (...args: unknown[]) => object) & Record<string, (...args: unknown[]) => unknown>;
type Exports = Readonly<Record<string, Callable>>;
const threads = { ...main, ...algorithms, ...keyed, ...metrics, ...p0514, ...report, ...sync } as unknown as Exports;
const ofTasks = tasks as unknown as Exports;

interface Call {
  readonly name: string;
  /** Those among which the owner is: the classes of `taketurns/tasks` have the names of the others. */
  readonly all: Exports;
  /** The class or the function. */
  readonly owner: string;
  /** The method, or `constructor`. A function has none. */
  readonly method?: string;
  readonly isStatic: boolean;
  /** The names of the parameters before the options. */
  readonly before: readonly string[];
}

/** Returns the classes that have this name, or inherit from a class that is not exported and has this name. */
function ownersOf(all: Exports, name: string): string[] {
  const inherits = (one: unknown): boolean =>
    typeof one === 'function' && (one.name === name || inherits(Object.getPrototypeOf(one)));
  return name in all ? [name] : Object.keys(all).filter((each) => inherits(all[each]));
}

/** Returns the calls that take options, as a declaration file of the build declares them. */
function callsIn(all: Exports, declarations: string): Call[] {
  const calls: Call[] = [];
  let owner = '';
  for (const line of declarations.split('\n')) {
    // An interface is called by its own name, so the methods of interfaces are those of no class.
    owner = /^export (?:declare (?:abstract )?(?:class|function)|interface) (\w+)/.exec(line)?.[1] ?? owner;
    const [, text] =
      /\((.*)(?:\boptions\??: [\w<>"', ]*(?:Options|Pick<)|\.\.\.request: PermitsRequest)/.exec(line) ?? [];
    if (text === undefined) continue;
    // A parameter may be a function, which has parameters of its own.
    const before = [...text.replace(/\([^()]*\)/g, '').matchAll(/(\w+)\??:/g)].map(([, name]) => name as string);
    const [, isStatic, method] = /^ {4}(static )?(\w+)(?:<[^(]+>)?\(/.exec(line) ?? [];
    for (const each of ownersOf(all, owner)) {
      const call = `${each}${method ? `.${method}` : ''}(${[...before, 'options'].join(', ')})`;
      const name = all === ofTasks ? `tasks.${call}` : call;
      calls.push({ name, all, owner: each, ...(method && { method }), isStatic: isStatic !== undefined, before });
    }
  }
  return calls;
}

const build = new URL('../../dist/', import.meta.url);
const calls = readdirSync(build, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.d.ts') && !name.startsWith('types/'))
  .flatMap((name) => callsIn(/^tasks/.test(name) ? ofTasks : threads, readFileSync(new URL(name, build), 'utf8')));

const run = (): never => {
  throw new SyntaxError('it must not run');
};
/** What a call gets for a parameter of this name. */
const before: Record<string, () => unknown> = {
  name: () => 'option names',
  arena: () => undefined,
  permits: () => 1,
  parties: () => 1,
  count: () => 1,
  bypass: () => 1,
  value: () => 1,
  per: () => 1,
  keys: () => [1],
  desired: () => 0,
  inner: () => new algorithms.TtsLock(),
  handle: () => new sync.Barrier(1).handle,
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
  notify: () => p0514.Notify.none,
};
/** The object whose method is called, if `new Class()` does not make it. */
const objects: Record<string, () => object> = {
  Semaphore: () => new Semaphore(1),
  KeyedSemaphore: () => new keyed.KeyedSemaphore(1),
  RateLimiter: () => new keyed.RateLimiter(1, 1),
  Latch: () => new sync.Latch(1),
  Barrier: () => new sync.Barrier(2),
  HeldUpdate: () => new sync.RwLock().update(),
  Condition() {
    const mutex = new Mutex();
    mutex.lock();
    return new sync.Condition(mutex);
  },
};

/** The same for `taketurns/tasks`. */
const objectsOfTasks: Record<string, () => object> = {
  Semaphore: () => new tasks.Semaphore(1),
  KeyedRateLimiter: () => new tasks.KeyedRateLimiter(1, 1),
  KeyedSemaphore: () => new tasks.KeyedSemaphore(1),
  RateLimiter: () => new tasks.RateLimiter(1, 1),
  Latch: () => new tasks.Latch(1),
  Barrier: () => new tasks.Barrier(2),
  HeldUpdate: () => new tasks.RwLock().updateAsync(),
  Condition() {
    const mutex = new tasks.Mutex();
    mutex.tryLock();
    return new tasks.Condition(mutex);
  },
};

async function refusal({ all, owner, method, isStatic, before: names }: Call, options: object): Promise<Error> {
  const args = [...names.map((name) => (before[name] as () => unknown)()), options];
  const Class = all[owner] as Callable;
  if (method === undefined) return failure(() => (Class as unknown as (...args: unknown[]) => unknown)(...args));
  if (method === 'constructor') return failure(() => new Class(...args));
  const made = (all === ofTasks ? objectsOfTasks : objects)[owner];
  const it = (isStatic ? Class : ((await made?.()) ?? new Class())) as Callable;
  return failure(() => it[method]?.(...args));
}

const allowedIn = (message: string): string[] => /of { (.*) }/.exec(message)?.[1]?.split(', ') ?? [];

describe.each(calls)('$name', (call) => {
  it('refuses an unknown option, and says what is allowed', async () => {
    const error = await refusal(call, { unknown: 5 });
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/^[\w.]+: options must be of { \w+(, \w+)* }, got "unknown"$/);
  });
});

it.each([
  ['threads', threads, 90],
  ['tasks', ofTasks, 30],
])('finds the calls of all classes of %s', (_, all, least) => {
  const found = calls.filter((call) => call.all === all);
  expect(found.length).toBeGreaterThan(least);
  const owners = new Set(found.map(({ owner }) => owner));
  const without = Object.keys(all).filter((name) => /^[A-Z]/.test(name) && !owners.has(name));
  // None of these has a call with options: guards, errors, what others make, and two objects.
  const none = /^Held(?!Update)|Error$|^(Notify|WaitChannel|WaitLocation)$/;
  expect(without.filter((name) => !none.test(name))).toEqual([]);
});

/** Returns a name with one mistake, in each way in which fingers make one. */
function mistakes(name: string): string[] {
  const made = [name.toUpperCase().slice(0, 1) + name.slice(1), `${name}s`, `${name}Ms`, `my${name}`];
  for (let i = 0; i < name.length; i++) {
    const [start, letter, rest] = [name.slice(0, i), name.charAt(i), name.slice(i + 1)];
    made.push(start + rest, start + letter + letter + rest, `${start}_${rest}`);
    // In a word of a few letters, two that have changed places leave too little.
    if (name.length > 4 && i > 0) made.push(name.slice(0, i - 1) + letter + name.charAt(i - 1) + rest);
  }
  return made;
}

it('the error names the option that was meant', async () => {
  const tried = new Set<string>();
  for (const call of calls) {
    const names = allowedIn((await refusal(call, { unknown: 5 })).message);
    if (tried.has(names.join())) continue;
    tried.add(names.join());
    for (const name of names) {
      for (const mistake of mistakes(name).filter((made) => !names.includes(made))) {
        const { message } = await refusal(call, { [mistake]: 5 });
        expect(message).toContain(` } (perhaps ${name}), got "${mistake}"`);
      }
    }
  }
  expect(tried.size).toBeGreaterThan(10);
});

it('a name that is like no option brings no other to mind', async () => {
  const { message } = await failure(() => new Semaphore(0).acquire(1, { ms: 5, 日本: undefined } as never));
  expect(message).toBe('Semaphore.acquire: options must be of { timeout, signal }, got "ms"');
  const long = await failure(() => new Semaphore(0).acquire(1, { ['t'.repeat(1e6)]: 5 } as never));
  expect(long.message.length).toBeLessThan(200);
});

describe('options of a class', () => {
  /** A class with getters, methods and symbols, which are not enumerable and so not given unless they are options. */
  const code = `new (class {
    get timeout() { return 0; }
    get timeOut() { throw new SyntaxError('nobody reads it'); }
    describe() { return 'five'; }
    [Symbol('x')] = 5;
  })()`;

  it.each([
    ['this realm', () => new Function(`return ${code}`)()],
    ['another realm', () => runInContext(code, createContext())],
    ['an object without a prototype', () => Object.assign(Object.create(null), { timeout: 0 })],
    ['a frozen object', () => Object.freeze({ timeout: 0 })],
    ['a proxy', () => new Proxy({ timeout: 0 }, {})],
    ['an object with defaults', () => Object.create({ timeout: 0 })],
  ])('of %s are read', async (_, options) => {
    const semaphore = new Semaphore(0);
    expect(await failure(() => semaphore.acquire(options()))).toBeInstanceOf(TimeoutError);
    expect(await failure(() => semaphore.acquireAsync(1, options()))).toBeInstanceOf(TimeoutError);
  });

  it('may have a signal of another realm, whose properties are getters', async () => {
    const signal = runInContext(
      `new (class {
        get aborted() { return true; }
        get reason() { return 'over there'; }
        addEventListener() {}
        removeEventListener() {}
      })()`,
      createContext(),
    );
    await expect(new Semaphore(0).acquireAsync(1, { signal })).rejects.toBe('over there');
  });
});
