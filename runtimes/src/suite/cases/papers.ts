/** The semaphores of the papers, the event count and the sequencer. */
import {
  ChainSemaphore,
  ChannelSemaphore,
  EventCount,
  LocationSemaphore,
  Sequencer,
  TicketSemaphore,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { entries, length, newBoard } from '../board.js';
import { equal, until } from '../check.js';
import { test } from '../run.js';

for (const Class of [TicketSemaphore, TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore]) {
  test(`papers: ${Class.name}`, async ({ team }) => {
    const semaphore = new Class(1);
    const board = newBoard();
    const workers = await team.members(3);
    const done = workers.map((worker, i) => worker.call('pass', semaphore.handle, board, i));
    for (let i = 1; i <= workers.length; i++) {
      await until('one is admitted', () => length(board) >= i);
      equal(length(board), i, 'one at a time');
      semaphore.release();
    }
    await Promise.all(done);
    equal([entries(board).sort(), semaphore.available], [[0, 1, 2], 1], 'who was admitted, what is left');
  });
}

test('papers: EventCount and Sequencer give an order', async ({ team }) => {
  const ROUNDS = 100;
  const sequencer = new Sequencer();
  const events = new EventCount();
  const board = newBoard();
  const workers = await team.members(3);
  await team.together(workers, 'takeTurns', sequencer.handle, events.handle, board, ROUNDS);
  equal(
    entries(board),
    Array.from({ length: workers.length * ROUNDS }, (_, i) => i),
    'order of the tickets',
  );
  equal(events.read(), BigInt(workers.length * ROUNDS), 'count');
});
