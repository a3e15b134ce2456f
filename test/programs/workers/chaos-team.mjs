/**
 * A team of workers, of which one is killed every 50 ms and started anew. channel-chaos.mjs, channel-accounts.mjs and
 * watch-chaos.mjs use it. Each worker turns its event loop now and then, since Deno ends a thread only there.
 */
import { setImmediate, setTimeout } from 'node:timers';
import { Worker } from 'node:worker_threads';

const KILLS_EVERY = 50;
/** How many milliseconds the team waits for something that must come. */
const DEADLINE = 20_000;
/** After so many turns of its loop a worker should turn its event loop. */
export const OFTEN = 64;
export const turn = () => new Promise((resolve) => setImmediate(resolve));
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Returns a function that draws whole numbers below its argument. */
export function randomOf(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Returns whether something becomes true before the deadline. */
export async function comes(condition) {
  for (const end = Date.now() + DEADLINE; !condition(); await sleep(5)) if (Date.now() > end) return false;
  return true;
}

export class Team {
  /** How many workers of each role were killed. */
  killed;
  failures = [];
  #members;
  #start;
  #random;

  /**
   * @param roles how many workers each role has.
   * @param dataOf returns the workerData of the worker at a place of the team, or undefined if no more may start.
   * @param tells whether a worker posts a message when its work begins. Only then it may be killed.
   */
  constructor(url, arena, random, roles, dataOf, { tells = false } = {}) {
    this.#random = random;
    this.killed = Object.fromEntries(Object.keys(roles).map((role) => [role, 0]));
    this.#start = (role, place) => {
      const data = dataOf(role, place);
      if (data === undefined) return undefined;
      const worker = new Worker(url, { workerData: { ...data, role, place } });
      // In Deno a death is proved by this alone.
      if ('Deno' in globalThis) arena.watch(worker);
      worker.on('error', (error) => this.failures.push(`${role} by ${data.way}: ${error.stack}`));
      const member = { role, way: data.way, worker, isReady: !tells, isOver: false };
      worker.once('message', () => {
        member.isReady = true;
      });
      member.ended = new Promise((resolve) => worker.once('exit', resolve)).then(() => {
        member.isOver = true;
      });
      return member;
    };
    const all = Object.entries(roles).flatMap(([role, count]) => Array(count).fill(role));
    this.#members = all.map((role, place) => this.#start(role, place));
  }

  /** Kills workers until it is enough, or a worker has failed, or no more may start. */
  async killUntil(isEnough) {
    let isFull = false;
    while (!isEnough() && this.failures.length === 0 && !isFull) {
      await sleep(KILLS_EVERY);
      // A worker that has done all its work has ended.
      const over = this.#members.findIndex(({ isOver }) => isOver);
      const place = over < 0 ? this.#random(this.#members.length) : over;
      const { role, worker, ended, isReady, isOver } = this.#members[place];
      if (!isReady && !isOver) continue;
      if (!isOver) this.killed[role]++;
      await worker.terminate();
      await ended;
      const next = this.#start(role, place);
      if (next === undefined) isFull = true;
      else this.#members[place] = next;
    }
  }

  /** Waits until all workers of a role have ended. Notes which are stuck. */
  async end(role) {
    const members = this.#members.filter((member) => member.role === role);
    if (await comes(() => members.every(({ isOver }) => isOver))) return;
    const stuck = members.filter(({ isOver }) => !isOver).map(({ way }) => way);
    this.failures.push(`stuck: ${role} by ${stuck}`);
  }
}
