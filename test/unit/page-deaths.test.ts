/**
 * How a page notices deaths (src/host/locks.ts), with false locks in place of those of a browser. The suite in runtimes/
 * has real browsers.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Deaths, Registry } from '../../src/host/host.js';
import { folderOfCopy } from '../support/copies.js';
import { until } from '../support/until.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The locks that are requested, by name. To grant one is to say that the worker has ended. */
type Requested = Map<string, () => void>;

interface Page {
  readonly deaths: Deaths;
  readonly requested: Requested;
  /** From now on each request fails with this error; without one, no request does. */
  refuse(error?: Error): void;
  /** How many requests have failed. */
  refusals(): number;
}

/** Loads the code as a page does. */
async function page(): Promise<Page> {
  const requested: Requested = new Map();
  let refused: Error | undefined;
  let refusals = 0;
  const request = async (name: string, run: () => void) => {
    if (refused) {
      refusals++;
      throw refused;
    }
    await new Promise<void>((granted) => requested.set(name, granted));
    run();
  };
  const query = async () => ({ held: [...requested.keys()].map((name) => ({ name })) });
  vi.stubGlobal('navigator', { locks: { request, query } });
  vi.stubGlobal('document', {});
  // So the code believes that it does not run on Node.
  vi.stubGlobal('Deno', {});
  const { deaths } = await import(pathToFileURL(join(folderOfCopy(), 'host/locks.js')).href);
  const refuse = (error?: Error) => {
    refused = error;
  };
  return { deaths, requested, refuse, refusals: () => refusals };
}

/** An arena that has one other thread, of this name. Notes who is reaped. */
function registry(name: number): Registry & { readonly reaped: number[] } {
  const reaped: number[] = [];
  return {
    reaped,
    mostThreads: () => 1,
    runtimeIdOf: () => name,
    lifeIfAlive: () => 1,
    reap: (thread) => reaped.push(thread),
  };
}

const newMemory = () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

/** Attaches a page to an arena. */
function attach(deaths: Deaths, id: bigint, core: Registry) {
  const memory = newMemory();
  const line = deaths.openLine(memory, id, () => {});
  deaths.watchOver(memory, undefined as never, id, core);
  return line;
}

it('a page that has left an arena and attached to it again notices deaths', async () => {
  const { deaths, requested } = await page();
  const [first, second] = [registry(-5), registry(-5)];
  const held = () => {};
  requested.set('taketurns:-5', held);
  const granted = () => requested.get('taketurns:-5') as () => void;
  const line = attach(deaths, 1n, first);
  await until(() => granted() !== held, 'the page requests the lock of the worker');
  line?.close();
  const early = granted();
  const again = attach(deaths, 1n, second);
  onTestFinished(() => again?.close());
  await until(() => granted() !== early, 'the page requests it again');
  early();
  granted()();
  await until(() => second.reaped.length > 0, 'the worker is reaped');
  expect([first.reaped, second.reaped]).toEqual([[], [1]]);
});

it('a page that has left an arena listens to it no more', async () => {
  const { deaths } = await page();
  let open = 0;
  const Channel = BroadcastChannel;
  vi.stubGlobal(
    'BroadcastChannel',
    class extends Channel {
      constructor(name: string) {
        super(name);
        open++;
      }
      override close(): void {
        open--;
        super.close();
      }
    },
  );
  const line = attach(deaths, 2n, registry(-6));
  expect(open).toBe(1);
  line?.close();
  line?.close();
  expect(open).toBe(0);
});

it('a page whose requests are refused goes on without an uncaught error, and requests again', async () => {
  const { deaths, requested, refuse, refusals } = await page();
  const uncaught = vi.fn();
  process.on('unhandledRejection', uncaught);
  onTestFinished(() => void process.off('unhandledRejection', uncaught));
  refuse(new Error('the storage has been cleared'));
  const line = attach(deaths, 3n, registry(-7));
  onTestFinished(() => line?.close());
  const worker = new BroadcastChannel('taketurns:3');
  onTestFinished(() => worker.close());
  worker.postMessage(-7);
  await until(() => refusals() > 0, 'the page requests the lock of the worker');
  refuse();
  await until(() => {
    worker.postMessage(-7);
    return requested.has('taketurns:-7');
  }, 'the page requests it again');
  expect(uncaught).not.toHaveBeenCalled();
});
