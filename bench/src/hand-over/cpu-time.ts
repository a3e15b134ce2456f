// Reads the processor time of one thread. Linux reports it in nanoseconds. Node reports it from 23.9 on, on every
// system.
//
// Linux updates the account of a running thread only at its ticks, which are milliseconds apart, and when the thread
// goes to sleep. Both ways to read the time of one thread return the account of the last update. So work just before a
// wait would count as part of the wait. Therefore the time of the whole process is read first: that makes the kernel
// update the account of the calling thread.

import { openSync, readSync } from 'node:fs';

const SCHEDSTAT = '/proc/thread-self/schedstat';
const READINGS = 50;

type Cpu = { user: number; system: number };

/**
 * Returns a clock of the calling thread's processor time in microseconds. The time that the readings take is
 * subtracted. Returns undefined if the system does not report the time of a thread.
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
