/** The host of Node, and of runtimes that offer its `worker_threads`. */
import { setImmediate } from 'node:timers';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import type { Host } from '../engine/host.js';

const KEY = 'taketurns:arena';
const LONGEST_INTERVAL = 0x7fffffff;

let timer: NodeJS.Timeout | undefined;
let reasons = 0;
const exits: (() => void)[] = [];

export const host: Host = {
  isMainThread,
  inherited: () => getEnvironmentData(KEY),
  bequeath: (value) => setEnvironmentData(KEY, value as never),
  keepAlive(on) {
    // A pending Atomics.waitAsync does not keep Node alive, a timer does.
    timer ??= setInterval(() => {}, LONGEST_INTERVAL);
    reasons += on ? 1 : -1;
    if (reasons > 0) timer.ref();
    else timer.unref();
  },
  soon(run) {
    setImmediate(run);
  },
  onExit(run) {
    if (exits.length === 0) {
      process.on('exit', () => {
        for (const exit of exits) exit();
      });
    }
    exits.push(run);
  },
};
