/**
 * Small worlds in which nothing is slow: a process holds a mutex and dies, and another process asks for the mutex. As in
 * simulation.ts, the shipped client runs on the shipped script, with a simulated clock. But each call and each answer
 * arrives at once, so it is known when the dead holder must have been found.
 *
 *     idle      the asker was connected all the time, and has held nothing for some leases
 *     comes     the asker connects a lease after the death or later, and nobody else was there
 *     returns   the asker was cut off. Meanwhile another process came, so that the server has ended the asker's session,
 *               held the mutex and died
 *
 * In each world the first answer must be the mutex: whoever asks is never told that a process holds which has been dead
 * for longer than a lease.
 */
import { Space } from '../src/space/space.js';
import { Data } from './data-model.js';
import type { Server } from './server.js';
import { mulberry, type Random, settled, shipped, VirtualClock, VirtualDriver } from './simulation.js';

/** Milliseconds. */
const LEASE = 1000;

export interface DeathPlan {
  readonly who: 'idle' | 'comes' | 'returns';
  /** How many leases pass before the holder comes. */
  readonly before: number;
  /** How many leases pass from the death until somebody asks. */
  readonly after: number;
  readonly how: 'tryHold' | 'timeout';
  readonly seed: number;
}

/** An idle process finds the dead within 1.25 leases; who comes watches if the holder has been silent for a lease. */
const AFTERS = {
  idle: [1.3, 1.5, 1.75, 2, 3, 5.1],
  comes: [1.01, 1.2, 1.6, 3, 5.1],
  returns: [1.01, 1.2, 1.6, 3, 5.1],
};

export function deathPlans(seeds: number): DeathPlan[] {
  const plans: DeathPlan[] = [];
  for (const who of ['idle', 'comes', 'returns'] as const)
    for (const before of [0, 0.4, 0.8, 1.3, 2.5, 5])
      for (const after of AFTERS[who])
        for (const how of ['tryHold', 'timeout'] as const)
          for (let seed = 1; seed <= seeds; seed++) plans.push({ who, before, after, how, seed });
  return plans;
}

interface Process {
  readonly clock: VirtualClock;
  readonly driver: VirtualDriver;
  alive: boolean;
}

class World {
  readonly #random: Random;
  readonly #server: Server = shipped();
  #data = new Data();
  #time = 0;
  readonly #processes: Process[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  start(): Process {
    const clock = new VirtualClock();
    clock.time = this.#time;
    const process: Process = { clock, driver: new VirtualDriver(this.#random), alive: true };
    this.#processes.push(process);
    return process;
  }

  async connect({ clock, driver }: Process): Promise<Space> {
    const connecting = Space.connect(driver, { clock, lease: LEASE, space: 'x', label: 'death' });
    // `connect` first loads the part for the client.
    while (!driver.events) await settled();
    driver.repair();
    return this.finish(connecting);
  }

  kill(process: Process): void {
    process.alive = false;
    process.driver.pipe = [];
    process.driver.channels.clear();
  }

  /** Lets time pass until the promise is settled. */
  async finish<T>(promise: Promise<T>): Promise<T> {
    let over = false;
    const end = (): void => {
      over = true;
    };
    promise.then(end, end);
    for (await this.#rest(); !over; await this.#rest()) {
      if (this.#time > 1000 * LEASE) throw new Error('a call is never settled');
      await this.#pass(1);
    }
    return promise;
  }

  async pass(leases: number): Promise<void> {
    const until = this.#time + leases * LEASE;
    for (await this.#rest(); this.#time < until; await this.#rest()) await this.#pass(until - this.#time);
  }

  get #living(): Process[] {
    return this.#processes.filter(({ alive }) => alive);
  }

  /** Lets at most so much time pass, up to the next timer. */
  async #pass(most: number): Promise<void> {
    const due = Math.min(...this.#living.map(({ clock }) => clock.due));
    this.#time += Math.max(0, Math.min(most, due - this.#time));
    for (const { clock } of this.#processes) clock.time = this.#time;
    for (const { clock } of this.#living)
      while (clock.due <= this.#time) {
        clock.fire();
        await this.#rest();
      }
  }

  /** Lets all arrive that is under way. */
  async #rest(): Promise<void> {
    for (let isBusy = true; isBusy; ) {
      await settled();
      isBusy = false;
      for (const process of this.#living) if (this.#arrive(process)) isBusy = true;
    }
  }

  #arrive({ driver }: Process): boolean {
    const subscription = driver.subscribing.shift();
    if (subscription) {
      driver.channels.set(subscription.channel, subscription.heard);
      subscription.done();
      return true;
    }
    const message = driver.inbox.shift();
    if (message) {
      driver.channels.get(message.channel)?.(message.text);
      return true;
    }
    const call = driver.pipe.shift();
    if (!call) return false;
    const where = { time: Math.floor(this.#time + 1_700_000_000_000) * 1000, history: '1'.padStart(40, '0') };
    const { data, published, reply } = this.#server.turn(this.#data, call.args, where);
    this.#data = data;
    for (const { channel, text } of published)
      for (const other of this.#living)
        if (other.driver.channels.has(channel)) other.driver.inbox.push({ channel, text });
    if (reply && typeof reply === 'object' && 'error' in reply) call.reject?.(new Error(reply.error));
    else call.answer?.(structuredClone(reply));
    return true;
  }
}

/** Plays one world. Returns what is wrong; undefined if nothing is. */
export async function playDeath({ who, before, after, how, seed }: DeathPlan): Promise<string | undefined> {
  const random = mulberry(seed);
  const { random: realRandom } = Math;
  Math.random = () => random(1 << 30) / (1 << 30);
  const world = new World(random);
  try {
    const asker = world.start();
    const holder = world.start();
    let space: Space | undefined;
    if (who !== 'comes') {
      space = await world.connect(asker);
      const mutex = await world.finish(space.mutex('m'));
      await world.finish((await world.finish(mutex.holdAsync())).unlock());
    }
    await world.pass(before);
    if (who === 'returns') {
      asker.driver.cut('commands');
      asker.driver.cut('messages');
    }
    const other = await world.connect(holder);
    await world.finish((await world.finish(other.mutex('m'))).holdAsync());
    // So long that the server has ended the session of who is cut off.
    if (who === 'returns') await world.pass(2.5);
    world.kill(holder);
    await world.pass(after);
    if (who === 'returns') asker.driver.repair();
    space ??= await world.connect(asker);
    const mutex = await world.finish(space.mutex('m'));
    const asked =
      how === 'tryHold'
        ? mutex.tryHold()
        : mutex.holdAsync({ timeout: who === 'idle' ? LEASE / 20 : LEASE }).catch(() => undefined);
    const held = await world.finish(asked);
    if (!held) return `${after} leases after the death of the holder, the answer is that the mutex is held`;
    await world.finish(Promise.all([held.unlock(), space.close()]));
    return undefined;
  } finally {
    Math.random = realRandom;
  }
}
