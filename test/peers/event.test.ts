/**
 * What others check of an event, as far as `Event` promises the same: EventTests of CPython (Lib/test/lock_tests.py),
 * and the cases of `notify_waiters` in tokio (tests/sync_notify.rs and sync_notify_owned.rs), which `set` followed by
 * `reset` is here. Each test names the case that it follows.
 */
import { Event } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { callers } from '../support/callers.js';
import { isSettled } from '../support/settled.js';
import { until } from '../support/until.js';

const THREADS = 5;
const { call, calls } = callers(THREADS);
/** For what never happens. */
const timeout = 60_000;
const all = (answer: boolean) => Array.from({ length: THREADS }, () => answer);

describe('EventTests', () => {
  it('test_is_set: set and reset twice are set and reset', () => {
    const event = new Event();
    expect(event.isSet).toBe(false);
    for (const isSet of [true, true, false, false]) {
      if (isSet) event.set();
      else event.reset();
      expect(event.isSet).toBe(isSet);
    }
  });

  it('test_notify: all who wait go on, and wait no more while it is set', async () => {
    const event = new Event();
    for (const _ of ['as made', 'after reset']) {
      const first = calls<boolean>(THREADS, event, 'wait');
      const second = calls<boolean>(THREADS, event, 'wait');
      await until(() => event.waiting === THREADS, 'all wait for the first time');
      event.set();
      expect(await Promise.all([...first, ...second])).toEqual([...all(true), ...all(true)]);
      event.reset();
    }
  });

  it('test_timeout: waits whose time passes answer false, and true when it is set', async () => {
    const event = new Event();
    expect(await Promise.all(calls(THREADS, event, 'wait', { timeout: 0 }))).toEqual(all(false));
    expect(await Promise.all(calls(THREADS, event, 'wait', { timeout: 5 }))).toEqual(all(false));
    event.set();
    expect(await Promise.all(calls(THREADS, event, 'wait', { timeout: 0 }))).toEqual(all(true));
    expect(await Promise.all(calls(THREADS, event, 'wait', { timeout: 5 }))).toEqual(all(true));
  });

  it('test_set_and_clear: those who wait go on, though it is reset at once', async () => {
    const event = new Event();
    const waits = calls<boolean>(THREADS, event, 'wait', { timeout });
    await until(() => event.waiting === THREADS, 'all wait');
    event.set();
    event.reset();
    expect(await Promise.all(waits)).toEqual(all(true));
  });
});

describe('notify_waiters', () => {
  it('notified_multi_notify: all who wait go on, and who comes later waits', async () => {
    const event = new Event();
    const waits = [event.waitAsync(), event.waitAsync(), call(0, event, 'wait')];
    await until(() => event.waiting === 3, 'all wait');
    event.set();
    event.reset();
    const later = event.waitAsync();
    expect(await Promise.all(waits)).toEqual([true, true, true]);
    expect(await isSettled(later)).toBe(false);
    event.set();
    expect(await later).toBe(true);
  });

  it('notify_notified_multi: set is kept for nobody after reset', async () => {
    const event = new Event();
    event.set();
    event.reset();
    expect(await event.waitAsync({ timeout: 0 })).toBe(false);
    expect(await call(0, event, 'wait', { timeout: 5 })).toBe(false);
  });

  it('notified_drop_notified_notify: one that is aborted takes nothing from the others', async () => {
    const event = new Event();
    const abort = new AbortController();
    const first = event.waitAsync({ signal: abort.signal });
    const second = event.waitAsync();
    abort.abort(new Error('dropped'));
    await expect(first).rejects.toThrow('dropped');
    expect(event.waiting).toBe(1);
    event.set();
    expect(await second).toBe(true);
  });

  it('notified_multi_notify_drop_one: one that is aborted after set was told, as all were', async () => {
    const event = new Event();
    const abort = new AbortController();
    const waits = [event.waitAsync({ signal: abort.signal }), event.waitAsync()];
    event.set();
    abort.abort();
    event.reset();
    expect(await Promise.all(waits)).toEqual([true, true]);
  });

  it('notify_in_drop_after_wake: a listener that sets the event within an abort does not hang it', async () => {
    const event = new Event();
    const abort = new AbortController();
    const other = event.waitAsync();
    abort.signal.addEventListener('abort', () => event.set());
    const first = event.waitAsync({ signal: abort.signal });
    abort.abort();
    // The listener was there first, so the event was set before the wait heard of the abort.
    expect(await Promise.all([first, other])).toEqual([true, true]);
  });
});
