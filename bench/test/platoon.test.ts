// The log of the platoon, and the counts that come from it.
import { Capacitor } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { letInOf, PlatoonLog, TracedLock } from '../src/rows/platoon.js';

describe('platoon log', () => {
  /**
   * Logs what threads do behind a semaphore of 3 permits. Each number is one departure, after which the semaphore has
   * let in so many threads, and one of the new ones goes on.
   */
  function insideAfter(grants: readonly number[]): number[] {
    const log = new PlatoonLog();
    let letIn = 3;
    for (let i = 0; i < 3; i++) log.arrival(1, letIn);
    for (const grant of grants) {
      log.departure(1, letIn);
      if (grant > letIn) log.arrival(1, grant);
      letIn = grant;
    }
    return log.before(100, 100).inside;
  }

  it('shows by what the semaphore has let in whether there are platoons', () => {
    expect(insideAfter([3, 3, 6, 6, 6, 9])).toEqual([3, 3, 3, 2, 1, 0, 3, 2, 1, 0, 3]);
    // A plain semaphore lets in another thread for each that departs.
    expect(insideAfter([4, 5, 6])).toEqual([3, 3, 3, 2, 3, 2, 3, 2, 3]);
    // A capacitor that let the next platoon in too early would show by more threads than B.
    expect(insideAfter([3, 6])).toEqual([3, 3, 3, 2, 1, 4]);
  });

  it('does not let the number fall that has been let in, if a thread is late with its event', () => {
    const log = new PlatoonLog();
    log.arrival(1, 6);
    log.departure(1, 3);
    expect(log.before(100, 10).inside).toEqual([6, 5]);
  });

  it('keeps the latest events up to a time, in their order', () => {
    const log = new PlatoonLog();
    const other = new PlatoonLog(log.memory);
    for (let now = 1; now <= 20_000; now++) (now % 2 === 1 ? log : other).arrival(now, now);
    const { milliseconds, inside } = log.before(19_990, 5);
    expect(milliseconds).toEqual([0, 1, 2, 3, 4]);
    expect(inside).toEqual([19_986, 19_987, 19_988, 19_989, 19_990]);
  });

  it('returns times that never decrease', () => {
    const log = new PlatoonLog();
    for (const now of [10, 12, 11, 13]) log.arrival(now, 1);
    expect(log.before(100, 10).milliseconds).toEqual([0, 2, 2, 3]);
    expect(new PlatoonLog().before(100, 10)).toEqual({ milliseconds: [], inside: [] });
  });

  it('logs after it has arrived and before it departs', () => {
    const calls: string[] = [];
    const log = new PlatoonLog();
    const lock = new TracedLock(
      { arrive: () => calls.push('arrive'), depart: () => calls.push('depart') },
      { lock: () => calls.push('lock'), unlock: () => calls.push('unlock') },
      log,
      () => 1,
      () => calls.push('clock'),
    );
    lock.lock();
    lock.unlock();
    expect(calls).toEqual(['arrive', 'clock', 'lock', 'unlock', 'clock', 'depart']);
    expect(log.before(100, 10).inside).toEqual([1, 0]);
  });

  it('reads from a capacitor how many threads it has let in', () => {
    const capacitor = new Capacitor(2);
    const letIn = letInOf(capacitor.handle);
    const found = [letIn()];
    for (const step of ['arrive', 'arrive', 'depart', 'depart', 'arrive'] as const) {
      capacitor[step]();
      found.push(letIn());
    }
    expect(found).toEqual([0, 1, 2, 2, 2, 3]);
    capacitor.dispose();
  });
});
