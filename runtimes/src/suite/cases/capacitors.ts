/** Capacitors: platoons, and a lock that a capacitor makes fair. */
import { Capacitor, CapacitorLock, TtsLock } from 'taketurns/algorithms';
import { entries, length, newBoard } from '../board.js';
import { equal, sleep, until } from '../check.js';
import { test } from '../run.js';

for (const [name, options] of [
  ['on the waiting array', {}],
  ['on one word', { semaphore: 'ticket' }],
  ['with lanes', { lanes: 2 }],
] as const) {
  test(`capacitors: platoons, ${name}`, async ({ team }) => {
    const capacitor = new Capacitor(2, options);
    const board = newBoard();
    const workers = await team.members(4);
    const done = workers.map((worker, i) => worker.call('arrive', capacitor.handle, board, i));
    await until('two have passed', () => length(board) >= 2);
    await sleep(30);
    equal(length(board), 2, 'the first platoon');
    capacitor.depart();
    await sleep(30);
    equal(length(board), 2, 'until all of it have departed');
    capacitor.depart();
    await Promise.all(done);
    equal(entries(board).sort(), [0, 1, 2, 3], 'who has passed');
  });
}

test('capacitors: a lock around a lock', async ({ team }) => {
  const ROUNDS = 1000;
  const lock = new CapacitorLock(new TtsLock(), { bypass: 2 });
  const words = new Int32Array(new SharedArrayBuffer(8));
  const workers = await team.members(3);
  await team.together(workers, 'lockAndCount', lock.handle, words, ROUNDS);
  equal(words[0], workers.length * ROUNDS, 'increments');
});
