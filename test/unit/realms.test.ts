/** Realms: a handle may come from another context of the thread, whose classes are not those of this one. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { MessageChannel, moveMessagePortToContext, receiveMessageOnPort } from 'node:worker_threads';
import { Arena, ArenaFullError, CancelledError, DisposedError, Semaphore, TimeoutError } from 'taketurns';
import { Channel, value } from 'taketurns/channel';
import { atomicSignal, atomicWait } from 'taketurns/p0514';
import { BrokenBarrierError } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { folderOfCopy } from '../support/copies.js';

const context = createContext();

/** Returns the value as a message to the other context brings it. */
function sent<T>(value: T): T {
  const { port1, port2 } = new MessageChannel();
  const there = moveMessagePortToContext(port2, context);
  port1.postMessage(value);
  const received = receiveMessageOnPort(there)?.message;
  port1.close();
  return received as T;
}

describe('a handle of another realm', () => {
  it('is accepted, and stands for the same object', () => {
    const semaphore = new Semaphore(2, { arena: new Arena() });
    const handle = sent(semaphore.handle);
    expect(handle.arena.memory).not.toBeInstanceOf(WebAssembly.Memory);
    Semaphore.from(handle).acquire();
    expect(semaphore.available).toBe(1);
    expect(Arena.from(handle.arena)).toBe(Arena.from(semaphore.handle.arena));
  });

  it('is refused for what is wrong with it, as one of this realm is', () => {
    const memory = (shared: boolean): WebAssembly.Memory =>
      runInContext(`new WebAssembly.Memory({ initial: 1, maximum: 1, shared: ${shared} })`, context);
    const handle = (value: unknown) => ({ kind: 'Arena', memory: value, isDefault: false }) as never;
    expect(() => Arena.from(handle(memory(false)))).toThrow('holds no shared arena of this version');
    expect(() => Arena.from(handle(memory(true)))).toThrow('holds no shared arena of this version');
    const { buffer } = memory(true);
    for (const forged of [buffer, { buffer }, Object.create(WebAssembly.Memory.prototype), new Proxy(memory(true), {})])
      expect(() => Arena.from(handle(forged))).toThrow(/handle must be the handle of an Arena of this process, got /);
  });
});

it('a handle of another realm travels on in a channel', () => {
  const arena = new Arena({ bytes: 1 << 16 });
  const channel = new Channel({ codec: value, bytes: 1000, arena });
  const semaphore = new Semaphore(2, { arena });
  channel.send(sent(semaphore.handle));
  Semaphore.from(channel.receive() as typeof semaphore.handle).acquire();
  expect(semaphore.available).toBe(1);
  const far = sent(new Semaphore(1, { arena: new Arena() }).handle);
  expect(() => channel.send(far)).toThrow(/of another arena cannot travel/);
});

describe('a word of another realm', () => {
  it.each(['Int32Array', 'Uint8ClampedArray', 'Float64Array'])('of an %s may be waited for', (name) => {
    const words = runInContext(`new ${name}(new SharedArrayBuffer(8))`, context);
    expect(atomicWait(words, 0, 1)).toBe(undefined);
    atomicSignal(words, 0);
    expect(() => atomicWait(runInContext(`new ${name}(1)`, context), 0, 1)).toThrow(/must be over shared memory/);
  });
});

describe('an error of another realm or copy', () => {
  const ERRORS = { ArenaFullError, CancelledError, DisposedError, TimeoutError };
  type Class = new (message: string) => Error;

  it.each(Object.entries(ERRORS))('%s: `instanceof` knows it, and takes it for no other', (name, Own) => {
    const code = ['common/errors', 'runtime/errors']
      .map((file) => readFileSync(new URL(`../../dist/${file}.js`, import.meta.url), 'utf8'))
      .join('')
      .replaceAll(/^(import|export \*) .*|^export /gm, '');
    const Other = runInContext(`(() => { ${code}\nreturn ${name}; })()`, context) as Class;
    const error = new Other('why');
    expect(Object.getPrototypeOf(Object.getPrototypeOf(error))).not.toBe(Error.prototype);
    expect(error instanceof Own).toBe(true);
    expect(new (Own as Class)('why') instanceof Other).toBe(true);
    for (const Else of Object.values<unknown>(ERRORS).filter((Class) => Class !== Own))
      expect(error instanceof (Else as Class)).toBe(false);
    class Narrower extends (Own as Class) {}
    expect(error instanceof Narrower).toBe(false);
    expect(new Narrower('why') instanceof Other).toBe(true);
    expect(({ name } as unknown) instanceof Own).toBe(false);
  });

  it('BrokenBarrierError: `instanceof` knows that of a copy, and takes it for no other', async () => {
    const copy = await import(pathToFileURL(join(folderOfCopy(), 'sync/index.js')).href);
    const error = new copy.BrokenBarrierError('why');
    expect(copy.BrokenBarrierError).not.toBe(BrokenBarrierError);
    expect(error instanceof BrokenBarrierError).toBe(true);
    expect(error instanceof TimeoutError).toBe(false);
  });
});
