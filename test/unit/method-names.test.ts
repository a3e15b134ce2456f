/**
 * An error of a bad argument begins with the call that got it: `Semaphore.holdAsync: permits must be ...`. The test finds
 * the calls in the declarations of the build, so it misses none.
 */
import { expect, it } from 'vitest';
import { type Call, methodsOf, type Parameter } from '../support/declarations.js';
import { calls, callWith, ofTasks, threads } from '../support/declared.js';
import { failure } from '../support/failure.js';

/** Bad arguments for a parameter; none if every value is a good one. */
function badFor({ name, type }: Parameter): unknown[] {
  if (/^(Wait|Read|Select)Options$/.test(type)) return [{ unknown: 5 }, { timeout: -1 }, { signal: 5 }, true];
  if (/Options\b/.test(type)) return [{ unknown: 5 }, true, { arena: 5 }];
  // Any value may be the first of a watch: its codec decides.
  if (type === 'unknown' || name === 'value' || type.startsWith('ValueOf<')) return [];
  if (name === 'key') return [null, Symbol('key')];
  if (name === 'keys') return [5, [null]];
  // A time that is over is a good one.
  return type.includes('number') ? ['x', true, ...(/[mM]s$/.test(name) ? [] : [-1.5])] : [5];
}

/** How the error of a call begins. A class stands for its constructor. */
function subject({ owner, method }: Call): string {
  return method === undefined || method === 'constructor' ? owner : `${owner}.${method}`;
}

it.each(calls)('$name names itself in the error of a bad argument', async (call) => {
  const begins = `${subject(call)}: `;
  const wrong: unknown[] = [];
  for (const [index, parameter] of call.parameters.entries()) {
    for (const value of badFor(parameter)) {
      const { message } = await failure(() => callWith(call, index, value));
      if (!message.startsWith(begins)) wrong.push([parameter.name, value, message]);
    }
  }
  expect(wrong).toEqual([]);
});

it.each([
  ['threads', threads],
  ['tasks', ofTasks],
])('misses no method of %s', (_, all) => {
  const found = new Set(calls.filter((call) => call.all === all).map(subject));
  expect(methodsOf(all).filter((method) => !found.has(method))).toEqual([]);
});
