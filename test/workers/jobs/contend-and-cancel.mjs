/**
 * One of a crowd of threads in which many requests are cancelled: by a time-out, by an abort, or by a time-out of 0.
 * The requests are calls and promises, heavy and light. The job counts violations for stress/cancelling.test.ts.
 */
import { Arena, DisposedError, TimeoutError } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import { attach, meet, nap, random, spin } from '../attach.mjs';

/** The reason of an abort. */
const STOP = 'stop';

/** Aborts at some moment: before the thread can sleep, in this iteration of the event loop, or in a later one. */
function abortSoon(controller, draw) {
  const abort = () => controller.abort(STOP);
  const when = draw();
  if (when < 0.3) queueMicrotask(abort);
  else if (when < 0.7) setImmediate(abort);
  else setTimeout(abort, 1 + draw() * 3);
}

export default async function contendAndCancel(args) {
  const { handle, shared, permits, from, to, rounds, exclusive, seed, index, barrier, parties } = args;
  const semaphore = attach(handle);
  const arena = Arena.from(handle.arena);
  const draw = random(seed * 100 + index + 1);
  const score = { admissions: 0, timeOuts: 0, aborts: 0, outOfOrder: 0, tooMany: 0, closed: 0 };

  /** Makes a request in one of the ways. Returns its first ticket when it is admitted. */
  async function ask(n, way) {
    if (way < 0.25) {
      semaphore.acquire(n);
      return lastTicket(arena);
    }
    if (way < 0.55) {
      semaphore.acquire(n, { timeout: draw() < 0.2 ? 0 : draw() * 0.3 });
      return lastTicket(arena);
    }
    const controller = new AbortController();
    const { signal } = controller;
    const admitted =
      way < 0.65
        ? semaphore.acquireAsync(n)
        : way < 0.8
          ? semaphore.acquireAsync(n, { timeout: draw() * 3 })
          : semaphore.acquireAsync(n, { signal });
    // The call has already taken the ticket, which is the place in the queue.
    const ticket = lastTicket(arena);
    if (way >= 0.8) abortSoon(controller, draw);
    await admitted;
    return ticket;
  }

  meet(barrier, parties);
  for (let round = 0; round < rounds; round++) {
    const n = from + Math.floor(draw() * (to - from + 1));
    let ticket;
    try {
      ticket = await ask(n, draw());
    } catch (error) {
      if (error instanceof TimeoutError) score.timeOuts++;
      else if (error === STOP) score.aborts++;
      else if (error instanceof DisposedError) {
        score.closed++;
        break;
      } else throw error;
      continue;
    }
    score.admissions++;
    const width = BigInt(n);
    const held = Number(Atomics.add(shared, 0, width) + width);
    if (held > permits) score.tooMany++;
    // A cancelled request leaves a gap. So the next admitted request begins where the last one ended, or behind it.
    const end = Atomics.exchange(shared, 1, ticket + width);
    if (exclusive && end > ticket) score.outOfOrder++;
    if (draw() < 0.05) nap();
    else spin(draw() * 2000);
    Atomics.sub(shared, 0, width);
    if (draw() < 0.5) semaphore.release(n);
    else for (let i = 0; i < n; i++) semaphore.release();
  }
  return score;
}
