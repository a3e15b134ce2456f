/**
 * How long an outage of the server a holder survives, in simulated time: 0.7 of a lease, at whatever moment between two
 * beats the outage begins. The client and the script are the published ones.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { Data } from '../check/data-model.js';
import { Server, turnChunk } from '../check/server.js';
import { VirtualClock, VirtualDriver } from '../check/simulation.js';
import { AnswerTimes } from '../src/drivers/answer-times.js';
import { Space } from '../src/space/space.js';

const LEASE = 10_000;
const STEP = 5;
const ROUND_TRIP = 4 * STEP;

const server = new Server(turnChunk());

/** Lets everything happen that happens without the time going on. */
async function settled(): Promise<void> {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** A process, a server and the time between them. */
class World {
  readonly clock = new VirtualClock();
  /** A probe finds no dead connection. */
  readonly driver = new VirtualDriver(() => 0);
  /** The server does not answer. What is sent to it meanwhile waits. */
  isMute = false;
  #data = new Data();
  /** When each answer arrives. */
  readonly #due: number[] = [];

  async pass(ms: number): Promise<void> {
    for (const end = this.clock.time + ms; this.clock.time < end; ) {
      this.clock.time += STEP;
      while (this.clock.due <= this.clock.time) {
        this.clock.fire();
        await settled();
      }
      if (!this.isMute) await this.#serve();
    }
  }

  async #serve(): Promise<void> {
    const { driver, clock } = this;
    for (const call of driver.pipe) {
      if (call.reply) continue;
      const surroundings = { time: clock.time * 1000, history: '0'.repeat(40) };
      const { data, reply } = server.turn(this.#data, call.args, surroundings);
      this.#data = data;
      call.reply = { value: reply };
      this.#due.push(clock.time + ROUND_TRIP);
    }
    for (const { done } of driver.subscribing.splice(0)) done();
    while ((this.#due[0] ?? Infinity) <= clock.time) {
      this.#due.shift();
      const call = driver.pipe.shift();
      call?.answer?.(call.reply?.value);
    }
    await settled();
  }

  /** Cuts both connections. */
  cut(): void {
    this.driver.reset();
    this.#due.length = 0;
  }

  async settle<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    promise.finally(() => {
      isSettled = true;
    });
    while (!isSettled) await this.pass(STEP);
    return promise;
  }
}

/** Whether a holder keeps what it holds. at: when the outage begins, after a beat was sent. */
async function survives(at: number, outage: number, isCut: boolean): Promise<boolean> {
  const world = new World();
  const { clock, driver } = world;
  const connecting = Space.connect(driver, { clock, lease: LEASE, space: 'x', label: 'a' });
  while (!driver.events) await settled();
  driver.repair();
  const space = await world.settle(connecting);
  const mutex = await world.settle(space.mutex('m'));
  const held = await world.settle(mutex.holdAsync());
  const beats = () => driver.pipe.some(({ args }) => args[3] === 'B');
  while (!beats()) await world.pass(STEP);
  await world.pass(at);
  world.isMute = true;
  if (isCut) world.cut();
  await world.pass(outage);
  // A server that cannot follow is not sent beat after beat.
  expect(driver.pipe.filter(({ args }) => args[3] === 'B').length).toBeLessThanOrEqual(3);
  world.isMute = false;
  if (isCut) {
    // The driver finds the server when its pause is over, and opens its connections.
    await world.pass(new AnswerTimes(LEASE).pause + 2 * ROUND_TRIP);
    driver.repair();
  }
  await world.pass(LEASE);
  const { held: isHeld } = held;
  await world.settle(space.close());
  return isHeld;
}

test.each([
  ['the server stands still', false],
  ['the server is gone', true],
])('%s for 0.7 of a lease, from any moment on: what is held stays held', async (_, isCut) => {
  // The longest times between beats.
  vi.spyOn(Math, 'random').mockReturnValue(0.999);
  onTestFinished(() => void vi.restoreAllMocks());
  for (let at = 0; at <= LEASE / 10; at += LEASE / 100)
    expect(await survives(at, 0.7 * LEASE, isCut), `${at}`).toBe(true);
});

test('for 0.8 of a lease, it is lost', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.999);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await survives(LEASE / 10 - ROUND_TRIP, 0.8 * LEASE, false)).toBe(false);
});
