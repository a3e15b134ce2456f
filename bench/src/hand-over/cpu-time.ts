// The processor time that one thread has used, which Linux tells in nanoseconds, and Node everywhere from 23.9 on.
//
// Linux accounts a running thread at its ticks, milliseconds apart, and when it goes to sleep; both ways of asking for the
// time of one thread tell what was accounted last. What a thread did just before a wait would so be taken for the wait's.
// To ask for the time of the whole process has the kernel account the calling thread up to that moment.

import { openSync, readSync } from 'node:fs';

const SCHEDSTAT = '/proc/thread-self/schedstat';
const READINGS = 50;

type Cpu = { user: number; system: number };

/**
 * A clock of the calling thread's processor time, in microseconds, from which the time that a reading takes is
 * subtracted; or nothing where the system does not tell it.
 */
export function threadCpuClock(): (() => number) | undefined {
  const read = linuxClock() ?? nodeClock();
  if (read === undefined) return undefined;
  const costs: number[] = [];
  let before = read();
  for (let i = 0; i < READINGS; i++) {
    const now = read();
    costs.push(now - before);
    before = now;
  }
  const cost = costs.sort((a, b) => a - b)[READINGS >> 1] as number;
  let readings = 0;
  return () => read() - cost * readings++;
}

function nodeClock(): (() => number) | undefined {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => Cpu };
  if (threadCpuUsage === undefined) return undefined;
  return () => {
    process.cpuUsage();
    const { user, system } = threadCpuUsage.call(process);
    return user + system;
  };
}

function linuxClock(): (() => number) | undefined {
  let file: number;
  try {
    file = openSync(SCHEDSTAT, 'r');
  } catch {
    return undefined;
  }
  const buffer = Buffer.alloc(80);
  return () => {
    process.cpuUsage();
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return Number(buffer.toString('latin1', 0, length).split(' ', 1)[0]) / 1000;
  };
}
