/** The test of both files. Each waits for the other: they run in two threads, and meet at one latch by its name. */
import assert from 'node:assert/strict';
import { Latch } from 'taketurns/sync';

export default () => {
  test('two files find one latch', async () => {
    const latch = Latch.open('both files', 2);
    latch.countDown();
    assert.ok(await latch.waitAsync({ timeout: 30_000 }));
  }, 60_000);
};
