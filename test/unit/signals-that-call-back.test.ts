/** A signal, or the option that names it, may run code of the user in the midst of a call. Nothing is lost then. */
import { Mutex, Semaphore, type Signal } from 'taketurns';
import { acquiring, selectAsync } from 'taketurns/channel';
import { RateLimiter } from 'taketurns/keyed';
import { Barrier, Condition, Event, Latch, Once, RwLock } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.js';

interface Wait {
  /** Begins to wait. */
  wait(options: { signal?: AbortSignal }): Promise<unknown>;
  /** Lets the wait end. */
  give(): void;
  dispose(): void;
  cancelAll?(): void;
  waiting(): number;
  /** Whether nothing is kept for a wait that begins later: the signal is asked to listen before the wait begins. */
  readonly keepsNothing?: boolean;
}

const waits: Record<string, () => Wait> = {
  'Semaphore.acquireAsync': () => {
    const s = new Semaphore(0);
    return {
      wait: (options) => s.acquireAsync(1, options),
      give: () => s.release(),
      dispose: () => s.dispose(),
      cancelAll: () => s.cancelAll(),
      waiting: () => s.waiting,
    };
  },
  'Mutex.lockAsync': () => {
    const m = new Mutex();
    m.lock();
    return {
      wait: (options) => m.lockAsync(options),
      give: () => m.unlock(),
      dispose: () => m.dispose(),
      cancelAll: () => m.cancelAll(),
      waiting: () => m.waiting,
    };
  },
  'Condition.waitAsync': () => {
    const m = new Mutex();
    const c = new Condition(m);
    m.lock();
    return {
      wait: (options) => c.waitAsync(options),
      give: () => c.notify(),
      dispose: () => c.dispose(),
      waiting: () => c.waiting,
      keepsNothing: true,
    };
  },
  'Latch.waitAsync': () => {
    const l = new Latch(1);
    return {
      wait: (options) => l.waitAsync(options),
      give: () => l.countDown(),
      dispose: () => l.dispose(),
      waiting: () => l.waiting,
    };
  },
  'Event.waitAsync': () => {
    const e = new Event();
    return {
      wait: (options) => e.waitAsync(options),
      give: () => e.set(),
      dispose: () => e.dispose(),
      waiting: () => e.waiting,
    };
  },
  'RwLock.lockReadAsync': () => {
    const l = new RwLock();
    l.lockWrite();
    return {
      wait: (options) => l.lockReadAsync(options),
      give: () => l.unlockWrite(),
      dispose: () => l.dispose(),
      waiting: () => l.waiting,
    };
  },
  'RwLock.lockWriteAsync': () => {
    const l = new RwLock();
    l.lockRead();
    return {
      wait: (options) => l.lockWriteAsync(options),
      give: () => l.unlockRead(),
      dispose: () => l.dispose(),
      waiting: () => l.waiting,
    };
  },
  'HeldUpdate.upgradeAsync': () => {
    const l = new RwLock();
    l.lockRead();
    const held = l.updateAsync();
    return {
      wait: async (options) => (await held).upgradeAsync(options),
      give: () => l.unlockRead(),
      dispose: () => l.dispose(),
      waiting: () => l.waiting,
    };
  },
};

/** A signal of which `listens` runs in `addEventListener`. */
function calling(listens: (listener: () => void) => void): AbortSignal & { listeners: number } {
  const signal = {
    aborted: false,
    reason: new Error('enough'),
    listeners: 0,
    addEventListener(_: string, listener: () => void) {
      signal.listeners++;
      listens(listener);
    },
    removeEventListener() {
      signal.listeners--;
    },
  };
  return signal as never;
}

const names = Object.keys(waits);
const made = (name: string): Wait => (waits[name] as () => Wait)();

describe('a signal that calls back while it takes a listener', () => {
  it.each(names)('%s: it gives what is waited for', async (name) => {
    const { wait, give, waiting, keepsNothing } = made(name);
    const signal = calling(() => give());
    const waited = wait({ signal });
    if (keepsNothing) give();
    await waited;
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
  });

  it.each(names)('%s: it disposes of the object', async (name) => {
    const { wait, dispose, waiting } = made(name);
    const signal = calling(() => dispose());
    await expect(wait({ signal })).rejects.toMatchObject({ name: 'DisposedError' });
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
  });

  it('HeldUpdate.upgradeAsync: the object that gets the memory of the lock stays as it is', async () => {
    const lock = new RwLock();
    lock.lockRead();
    const held = await lock.updateAsync();
    let next: Mutex | undefined;
    const signal = calling(() => {
      lock.dispose();
      next = new Mutex();
    });
    await expect(held.upgradeAsync({ signal })).rejects.toMatchObject({ name: 'DisposedError' });
    expect([next?.locked, next?.tryLock()]).toEqual([false, true]);
  });

  it.each(names)('%s: it is aborted', async (name) => {
    const { wait, waiting } = made(name);
    const signal = calling((listener) => {
      Object.assign(signal, { aborted: true });
      listener();
    });
    expect(await wait({ signal }).catch((error) => error)).toBe(signal.reason);
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
  });

  it.each(names.filter((name) => made(name).cancelAll))('%s: it cancels all', async (name) => {
    const { wait, give, cancelAll, waiting } = made(name);
    const signal = calling(() => cancelAll?.());
    const answer = wait({ signal }).then(
      () => 'has it',
      (error) => error.name,
    );
    // The request had begun, or it had not: it is cancelled, or goes on.
    if (waiting() > 0) give();
    expect(['has it', 'CancelledError']).toContain(await answer);
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
  });

  it('answers once for all who share it, though a listener is taken off in their midst', async () => {
    const event = new Event();
    const others = new AbortController();
    const signal = calling(() => {});
    signal.removeEventListener = () => {
      event.reset();
      others.abort();
      later ??= event.waitAsync({ timeout: 1 });
    };
    let later: Promise<boolean> | undefined;
    const both = [event.waitAsync({ signal }), event.waitAsync({ signal: others.signal })];
    event.set();
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(await later).toBe(false);
    expect(event.waiting).toBe(0);
  });
});

describe('an option that answers otherwise when it is read again', () => {
  it.each(names)('%s: with a signal that is aborted by then', async (name) => {
    const { wait, waiting } = made(name);
    let reads = 0;
    const reason = new Error('enough');
    const options = {
      get signal() {
        return reads++ === 0 ? new AbortController().signal : AbortSignal.abort(reason);
      },
    };
    const answer = await Promise.race([
      wait(options).catch((error) => error),
      new Promise((resolve) => setTimeout(resolve, 200, 'waits')),
    ]);
    expect(reads === 1 ? 'waits' : reason).toBe(answer);
    if (reads > 1) expect(waiting()).toBe(0);
  });
});

describe('a signal that throws when it is looked at again', () => {
  const gone = new Error('gone');
  const turns = async (): Promise<string> => {
    for (let i = 0; i < 3; i++) await new Promise(setImmediate);
    return 'waits';
  };

  /** A signal whose `aborted` throws after so many looks. */
  function throwing(looks: number): AbortSignal & { listeners: number } {
    const signal = calling(() => {});
    let left = looks;
    Object.defineProperty(signal, 'aborted', {
      get() {
        if (left-- === 0) throw gone;
        return false;
      },
    });
    return signal;
  }

  const looks = names.flatMap((name) => [1, 2, 3, 4].map((look) => [name, look] as const));
  it.each(looks)('%s, after %i looks: the request has ended, and the next one is served', async (name, most) => {
    const { wait, give, dispose, waiting } = made(name);
    const signal = throwing(most);
    const answer = wait({ signal }).catch((error) => error);
    const isOver = (await Promise.race([answer, turns()])) !== 'waits';
    if (isOver) {
      expect(await answer).toBe(gone);
      expect(waiting()).toBe(0);
      const next = wait({});
      give();
      await next;
    } else {
      // It was not looked at so often.
      give();
      expect(await answer).not.toBe(gone);
    }
    await turns();
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
    dispose();
  });

  it.each(names)('%s: an option that throws when it is read again', async (name) => {
    for (let most = 1; most <= 3; most++) {
      const { wait, give, dispose, waiting } = made(name);
      let reads = 0;
      const options = {
        get signal() {
          if (reads++ === most) throw gone;
          return new AbortController().signal;
        },
      };
      const answer = wait(options).catch((error) => error);
      if ((await Promise.race([answer, turns()])) === 'waits') give();
      else {
        expect([await answer, waiting()]).toEqual([gone, 0]);
        const next = wait({});
        give();
        await next;
      }
      await answer;
      expect(waiting()).toBe(0);
      dispose();
    }
  });

  it.each(names)('%s: a reason that throws is what the request rejects with', async (name) => {
    const { wait, dispose, waiting } = made(name);
    let abort = (): void => {};
    const signal = calling((listener) => {
      abort = listener;
    });
    const answer = wait({ signal }).catch((error) => error);
    await turns();
    Object.defineProperty(signal, 'reason', {
      get() {
        throw gone;
      },
    });
    Object.assign(signal, { aborted: true });
    abort();
    expect([await answer, waiting()]).toEqual([gone, 0]);
    dispose();
  });

  it('has no say in whether a wait has timed out', async () => {
    const latch = new Latch(1);
    expect(await latch.waitAsync({ signal: throwing(3), timeout: 5 })).toBe(false);
    expect(latch.waiting).toBe(0);
  });

  it('leaves no reader that nobody knows', async () => {
    const lock = new RwLock();
    const writing = lock.tryWrite();
    await expect(lock.lockReadAsync({ signal: throwing(2) })).rejects.toBe(gone);
    writing?.unlock();
    expect(lock.tryLockWrite()).toBe(true);
    lock.unlockWrite();
  });

  it.each([2, 3])('lets another call do the work of a Once, after %i looks', async (most) => {
    const once = new Once();
    const signal = throwing(most);
    const first = await once.runAsync(() => {}, { signal }).catch((error) => error);
    expect(await once.runAsync(() => {})).toBe(first === gone);
    let end = (): void => {};
    const busy = new Once();
    const runs = busy.runAsync(() => new Promise((resolve) => (end = resolve)));
    await expect(busy.runAsync(() => {}, { signal: throwing(most) })).rejects.toBe(gone);
    expect(busy.waiting).toBe(0);
    end();
    expect(await runs).toBe(true);
  });

  it('breaks a barrier for all, if the call has arrived', async () => {
    const barrier = new Barrier(3);
    const other = barrier.arriveAndWaitAsync();
    await expect(barrier.arriveAndWaitAsync({ signal: throwing(3) })).rejects.toBe(gone);
    await expect(other).rejects.toMatchObject({ name: 'BrokenBarrierError' });
  });

  it('does not keep the turn of a rate limiter', async () => {
    const limiter = new RateLimiter(1, 20);
    for (let most = 1; most <= 4; most++) {
      await limiter.takeAsync();
      const first = limiter.takeAsync();
      const second = limiter.takeAsync({ signal: throwing(most) }).catch((error) => error);
      await first;
      expect([undefined, gone]).toContain(await second);
    }
    await limiter.takeAsync();
    expect(limiter.waiting).toBe(0);
  });

  it('leaves a select in no line', async () => {
    const semaphore = new Semaphore(0);
    let reads = 0;
    const options = {
      get signal() {
        if (reads++ > 0) throw gone;
        return undefined;
      },
    };
    await expect(selectAsync([acquiring(semaphore)], options as never)).rejects.toBe(gone);
    semaphore.release();
    expect(semaphore.tryAcquire()).toBe(true);
  });
});

it('a signal that unlocks the mutex leaves nobody in the line of the condition', async () => {
  const mutex = new Mutex();
  const condition = new Condition(mutex);
  mutex.lock();
  const signal = calling(() => mutex.unlock());
  await expect(condition.waitAsync({ signal })).rejects.toThrow('not the owner');
  expect([condition.waiting, condition.notify(), mutex.locked, signal.listeners]).toEqual([0, 0, false, 0]);
});

it('a signal that locks the mutex blocks its thread, which has no request in the line yet', async () => {
  const mutex = new Mutex();
  mutex.lock();
  const signal = calling(() => {
    mutex.unlock();
    mutex.lock({ timeout: 1000 });
  });
  const locked = mutex.lockAsync({ signal });
  expect([mutex.held, mutex.waiting]).toEqual([true, 1]);
  mutex.unlock();
  await locked;
  mutex.unlock();
});

it('a signal that begins another wait when it is asked for its reason does not keep the process alive', async () => {
  expect(await runProgram('waits-in-a-signal')).toEqual({ code: 0, out: 'all are over\n', err: '' });
});

describe('a signal whose `aborted` looks at the phase of another object', () => {
  /** Its code moves a phase on, of one lock or of a new one each time, which the thread then has seen last. */
  function strangeSignal(next: () => RwLock): Signal & { looks: number } {
    return {
      looks: 0,
      get aborted() {
        if (++this.looks > 1000) throw new Error('looked at for ever');
        next().write().unlock();
        return false;
      },
      reason: undefined,
      addEventListener() {},
      removeEventListener() {},
    };
  }

  it('does not change the phase for which a writer drains: promises that wait for its end do not keep it out', async () => {
    const lock = new RwLock();
    const reading = lock.read();
    const other = new RwLock();
    const writing = lock.writeAsync({ signal: strangeSignal(() => other) });
    await new Promise(setImmediate);
    const behind = lock.readAsync();
    reading.unlock();
    (await writing).unlock();
    (await behind).unlock();
  });

  it('does not let a writer in beside promises that have waited for the phase that the signal has seen', async () => {
    const lock = new RwLock();
    const first = lock.write();
    const reading = lock.readAsync();
    // A new lock is in phase 0, as `lock` is now.
    const writing = lock.writeAsync({ signal: strangeSignal(() => new RwLock()) });
    let writes = false;
    const wrote = writing.then((held) => {
      writes = true;
      held.unlock();
    });
    first.unlock();
    const held = await reading;
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
    expect(writes).toBe(false);
    held.unlock();
    await wrote;
  });

  it('does not change the phase of a Once for which a promise waits', async () => {
    const once = new Once();
    const first = once.runAsync(() => new Promise((resolve) => setTimeout(resolve, 20)));
    const other = new RwLock();
    const signal = strangeSignal(() => other);
    const second = once.runAsync(() => {}, { signal });
    await expect(first).resolves.toBe(true);
    await expect(second).resolves.toBe(false);
  });
});
