/**
 * An option with an unknown name is an error in every call that takes options, and the error names the option that was
 * meant. The test finds the calls in the declarations of the build, so it misses none.
 */
import { createContext, runInContext } from 'node:vm';
import { Semaphore, TimeoutError } from 'taketurns';
import { describe, expect, it } from 'vitest';
import type { Call } from '../support/declarations.js';
import { callWith, calls as declared, ofTasks, threads } from '../support/declared.js';
import { failure } from '../support/failure.js';

const calls = declared.filter(({ parameters }) => isOfOptions(parameters.at(-1)?.type));

function isOfOptions(type = ''): boolean {
  return /Options(<.*>)?$|^Pick</.test(type);
}

function refusal(call: Call, options: object): Promise<Error> {
  return failure(() => callWith(call, call.parameters.length - 1, options));
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
  // None of these has a call with options: guards, errors, and what others make.
  const none = /^Held(?!Update)|Error$|^(Message|Place|Sender|Notify|WaitChannel|WaitLocation)$/;
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
