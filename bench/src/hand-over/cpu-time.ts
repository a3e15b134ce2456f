// The processor time that one thread has used, which Node tells from 23.9 on, and Linux before that.

import { openSync, readSync } from 'node:fs';

const SCHEDSTAT = '/proc/thread-self/schedstat';
const READINGS = 50;

type Cpu = { user: number; system: number };

/**
 * A clock of the calling thread's processor time, in microseconds, from which the time that a reading takes is
 * subtracted; or nothing where the system does not tell it.
 */
export function threadCpuClock(): (() => number) | undefined {
  const read = nodeClock() ?? linuxClock();
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
    const { user, system } = threadCpuUsage.call(process);
    return user + system;
  };
}

/** Linux writes nanoseconds, but of a running thread those of its latest tick, unless something asks for its time. */
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
