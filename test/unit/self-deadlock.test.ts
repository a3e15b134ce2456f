/**
 * A call for which a thread would wait for itself is a SelfDeadlockError, of every entry that throws it. Its message
 * says what to write instead, for the code that has the lock and for another task of the thread: both are tried here.
 */
import * as main from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import * as channel from 'taketurns/channel';
import * as keyed from 'taketurns/keyed';
import * as report from 'taketurns/report';
import * as sync from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { failure } from '../support/failure.js';

const { Mutex, SelfDeadlockError } = main;
const IF_ANOTHER = 'Only if another task of this thread has it, await ';

interface Case {
  readonly call: string;
  /** Gets what the call waits for, and returns what gives it back. */
  has(): { again: () => unknown; anotherTask: () => Promise<unknown>; giveBack: () => void; object?: sync.RwLock };
  /** What the message says that code does which has it. */
  readonly instead: string;
  readonly asynchronous: string;
}

const unlockFirst = 'code that has it must unlock first, or not lock again';
const giveBackFirst = 'code that has the key must give it back first, or not hold it again';
const notAgain =
  'code that has the lock must unlock first; to read and then perhaps write, use update and then upgrade';
const readAsWriter =
  'a writer may read what the lock guards without a second lock, and goes on as a reader by downgrade of its guard';

const cases: Case[] = [
  ...(['lock', 'hold', 'waitForUnlock'] as const).map((method): Case => {
    const asynchronous = `${method}Async` as const;
    return {
      call: `Mutex.${method}`,
      has() {
        const mutex = new Mutex();
        mutex.lock();
        return {
          again: () => mutex[method](),
          anotherTask: () => mutex[asynchronous](),
          giveBack: () => mutex.unlock(),
        };
      },
      instead: unlockFirst,
      asynchronous: `${asynchronous}()`,
    };
  }),
  {
    call: 'KeyedMutex.hold',
    has() {
      const table = new keyed.KeyedMutex();
      const held = table.hold('a');
      return { again: () => table.hold('a'), anotherTask: () => table.holdAsync('a'), giveBack: () => held.unlock() };
    },
    instead: giveBackFirst,
    asynchronous: 'holdAsync',
  },
  {
    call: 'KeyedMutex.holdAll',
    has() {
      const table = new keyed.KeyedMutex();
      const held = table.hold('a');
      const keys = ['b', 'a'];
      return {
        again: () => table.holdAll(keys),
        anotherTask: () => table.holdAllAsync(keys),
        giveBack: () => held.unlock(),
      };
    },
    instead: giveBackFirst,
    asynchronous: 'holdAllAsync',
  },
  {
    call: 'KeyedSemaphore.hold',
    has() {
      const table = new keyed.KeyedSemaphore(3);
      const held = table.hold('a', 2);
      return {
        again: () => table.hold('a', 2),
        anotherTask: () => table.holdAsync('a', 2),
        giveBack: () => held.release(),
      };
    },
    instead: giveBackFirst,
    asynchronous: 'holdAsync',
  },
  ...(['lockRead', 'read'] as const).map((method): Case => {
    const asynchronous = `${method}Async` as const;
    return {
      call: `RwLock.${method}`,
      has() {
        const lock = new sync.RwLock();
        const held = lock.write();
        return {
          again: () => lock[method](),
          anotherTask: () => lock[asynchronous](),
          giveBack: () => held.unlock(),
          object: lock,
        };
      },
      instead: readAsWriter,
      asynchronous: `${asynchronous}()`,
    };
  }),
  ...(['lockWrite', 'write', 'update'] as const).flatMap((method) => {
    const asynchronous = `${method}Async` as const;
    return (['read', 'write', 'update'] as const).map(
      (first): Case => ({
        call: `RwLock.${method}`,
        has() {
          const lock = new sync.RwLock();
          const held = lock[first]();
          return {
            again: () => lock[method](),
            anotherTask: () => lock[asynchronous](),
            giveBack: () => held.unlock(),
          };
        },
        instead: notAgain,
        asynchronous: `${asynchronous}()`,
      }),
    );
  }),
  {
    call: 'HeldUpdate.upgrade',
    has() {
      const lock = new sync.RwLock();
      const reading = lock.read();
      reading.unlock();
      const update = lock.update();
      const again = lock.read();
      return {
        again: () => update.upgrade().unlock(),
        anotherTask: async () => (await update.upgradeAsync()).unlock(),
        giveBack: () => again.unlock(),
      };
    },
    instead: 'code that reads too must unlock that first',
    asynchronous: 'upgradeAsync()',
  },
];

describe.each(cases)('$call of a thread that has it', ({ call, has, instead, asynchronous }) => {
  it('is a SelfDeadlockError, which says what to write instead', async () => {
    const { again, giveBack } = has();
    const error = await failure(again);
    expect(error).toBeInstanceOf(SelfDeadlockError);
    expect(error.name).toBe('SelfDeadlockError');
    expect(error.message).toContain(`${call}: this thread `);
    expect(error.message).toContain(`, and would wait for itself: ${instead}. ${IF_ANOTHER}${asynchronous}`);
    // What has the lock would wait for itself by a promise too, and nothing would tell it.
    expect(error.message).not.toMatch(/\buse \w+Async/);
    giveBack();
  });

  it('goes on when it is given back first', () => {
    const { again, giveBack, object } = has();
    giveBack();
    again();
    object?.dispose();
  });

  it('goes on by the promise when the other task gives it back', async () => {
    const { anotherTask, giveBack, object } = has();
    const promise = anotherTask();
    giveBack();
    await promise;
    object?.dispose();
  });
});

it('a writer goes on as a reader by downgrade, and a reader may become a writer by update', () => {
  const lock = new sync.RwLock();
  lock.write().downgrade().unlock();
  lock.update().upgrade().unlock();
  expect(lock.toString()).toContain('0 readers');
});

describe('a thread that blocks behind a promise of its own', () => {
  it('in Condition.wait: waitAsync goes on', async () => {
    const mutex = new Mutex();
    const condition = new sync.Condition(mutex);
    mutex.lock();
    const first = condition.waitAsync();
    mutex.lock();
    const error = await failure(() => condition.wait());
    expect(error).toBeInstanceOf(SelfDeadlockError);
    expect(error.message).toMatch(
      /^Condition\.wait: a promise .* so this thread would wait for itself: await waitAsync\(\)$/,
    );
    const second = condition.waitAsync();
    mutex.lock();
    condition.notifyAll();
    mutex.unlock();
    await first;
    mutex.unlock();
    await second;
    mutex.unlock();
  });
});

it('a function of a Once that runs the same Once', async () => {
  const once = new sync.Once();
  const error = await failure(() => once.run(() => once.run(() => {})));
  expect(error).toBeInstanceOf(SelfDeadlockError);
  expect(error.message).toBe(
    'Once.run: this thread or a promise of it runs the Once already, and would wait for itself: its function must not call ' +
      `run of the same object. ${IF_ANOTHER}runAsync(fn)`,
  );
  let goOn = (): void => {};
  const first = once.runAsync(() => new Promise<void>((resolve) => (goOn = resolve)));
  expect(await failure(() => once.run(() => {}))).toBeInstanceOf(SelfDeadlockError);
  const second = once.runAsync(() => {});
  goOn();
  expect([await first, await second]).toEqual([true, false]);
});

it.each([
  ['TtsLock', new algorithms.TtsLock()],
  ['TicketLock', new algorithms.TicketLock()],
  ['CapacitorLock', new algorithms.CapacitorLock(new algorithms.TtsLock())],
])('a %s that its thread locks again', async (kind, lock) => {
  lock.lock();
  const error = await failure(() => lock.lock());
  expect(error).toBeInstanceOf(SelfDeadlockError);
  expect(error.message).toBe(
    `${kind}.lock: this thread holds the lock already, and would wait for itself for ever: unlock first, or do not lock again`,
  );
  lock.unlock();
  lock.lock();
});

it('names the mutex', async () => {
  const mutex = Mutex.open('self-deadlock accounts');
  mutex.lock();
  expect((await failure(() => mutex.lock())).message).toMatch(
    /^Mutex.lock: this thread has the Mutex "self-deadlock accounts", and would wait for itself: /,
  );
});

it('is one class in every entry that throws it, and no DeadlockError', async () => {
  for (const entry of [algorithms, channel, keyed, sync]) {
    expect(entry.SelfDeadlockError).toBe(SelfDeadlockError);
  }
  const mutex = new Mutex();
  mutex.lock();
  const error = await failure(() => mutex.lock());
  expect(error instanceof report.DeadlockError).toBe(false);
  expect(error instanceof main.TimeoutError).toBe(false);
  expect(new Error('x') instanceof SelfDeadlockError).toBe(false);
});
