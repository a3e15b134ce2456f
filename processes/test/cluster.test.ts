/** A cluster of three primaries and three replicas: work goes on while slots move and a primary is killed. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { startCluster } from '../servers/servers.js';
import { slotOf } from '../src/drivers/connections.js';
import { Space } from '../src/space/space.js';
import { libraries } from './clients.js';
import { onEachServer } from './each-server.js';
import { sleep } from './setting.js';

const PARTITIONS = 6;
const wanted = libraries.filter(({ name }) => /^(ioredis 6, RESP3|node-redis 6, RESP2)$/.test(name));

onEachServer((binary) => {
  describe.each(wanted)('$name in a cluster of 3 + 3', (library) => {
    test('nothing is lost, and nobody waits for ever', async () => {
      const cluster = await startCluster(3, 1, { server: binary });
      onTestFinished(() => cluster.stop());
      const spaces: Space[] = [];
      for (let i = 0; i < 2; i++) {
        const user = await library.cluster(cluster.nodes[i]?.port as number);
        onTestFinished(() => user.close());
        spaces.push(await Space.connect(user.client, { space: 'big', partitions: PARTITIONS, lease: 5000 }));
      }
      let failovers = 0;
      let resumed = 0;
      for (const space of spaces) space.on('failover', () => failovers++).on('resumed', () => resumed++);
      const names = Array.from({ length: 12 }, (_, i) => `name ${i}`);
      const inside = new Map<string, number>();
      let isOver = false;
      let turns = 0;
      let most = 0;
      let lost = 0;
      const work = async (space: Space, name: string) => {
        const semaphore = await space.semaphore(name, 2);
        while (!isOver) {
          await semaphore
            .runExclusive(async () => {
              const now = (inside.get(name) ?? 0) + 1;
              inside.set(name, now);
              most = Math.max(most, now);
              await sleep(1);
              inside.set(name, (inside.get(name) ?? 0) - 1);
              turns++;
            })
            // A failover may lose a grant. The holder of this grant is told.
            .catch((error: Error) => {
              expect(error.name).toBe('LeaseLostError');
              lost++;
            });
        }
      };
      const working = spaces.flatMap((space) => names.flatMap((name) => [work(space, name), work(space, name)]));
      const goOn = async () => {
        const from = turns;
        while (turns < from + 200) await sleep(10);
      };
      await goOn();
      for (let partition = 0; partition < PARTITIONS; partition++) {
        const slot = slotOf(`tt:{big.${partition}}:meta`);
        await cluster.moveSlot(slot, ((await cluster.ownerOf(slot)) + 1) % 3);
      }
      await goOn();
      while (resumed < PARTITIONS) await sleep(10);
      await sleep(100);
      // A slot that has moved is on a server with another history of the data, but nothing is lost.
      expect(failovers).toBe(0);
      expect(most).toBe(2);
      expect(lost).toBe(0);
      // The test asks node 0 for the owners of the slots. So the victim is another node.
      const victim = 1 + ((await cluster.ownerOf(slotOf('tt:{big.0}:meta'))) % 2);
      await cluster.nodes[victim]?.kill();
      const killed = cluster.nodes[victim]?.port;
      const slots = Array.from({ length: PARTITIONS }, (_, i) => slotOf(`tt:{big.${i}}:meta`));
      for (const slot of slots) while (cluster.nodes[await cluster.ownerOf(slot)]?.port === killed) await sleep(100);
      await goOn();
      while (failovers === 0) await sleep(10);
      isOver = true;
      await Promise.all(working);
      const [a] = spaces as [Space];
      for (const name of names) {
        expect(await (await a.semaphore(name, 2)).inspect()).toMatchObject({ free: 2, waiting: 0 });
      }
      for (const space of spaces) await space.close();
      console.log(`${turns} turns, at most ${most} at once, ${lost} lost at the failover`);
    });
  });
});
