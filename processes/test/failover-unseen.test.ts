/** What operations.md says of a service whose INFO has no `master_replid`: here a user that may not ask for it. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { LeaseLostError } from '../src/errors.js';
import { Space } from '../src/space/space.js';
import { onServers, until } from './setting.js';

onServers(
  'a server that loses its last writes',
  (setting) => {
    const admin = async (rights: readonly string[]): Promise<void> => {
      const client = setting.another();
      await client.acl('SETUSER', 'app', 'on', 'nopass', 'allkeys', 'allchannels', '+@all', ...rights);
    };
    const join = async (space: string): Promise<Space> => {
      const { port } = setting.server;
      const client = new Redis({ port, host: '127.0.0.1', username: 'app', password: 'x', lazyConnect: true });
      client.on('error', () => {});
      const joined = await Space.connect(client, { space });
      onTestFinished(async () => {
        await joined.close();
        client.disconnect();
      });
      return joined;
    };

    for (const [rights, what] of [
      [['-info'], 'without master_replid: no failover is told, and a loss is'],
      [[], 'with master_replid: the failover is told, and tokens rise'],
    ] as const) {
      const isSeen = rights.length === 0;
      test(what, async () => {
        const name = `unseen ${isSeen}`;
        await admin(rights);
        const keeper = await join(name);
        const events: string[] = [];
        keeper.on('failover', () => events.push('failover')).on('resumed', () => events.push('resumed'));
        // This process knows no token but that of its session.
        const { epoch } = await keeper.inspect();
        await setting.another().save();
        const held = await (await keeper.mutex('kept')).holdAsync();
        const other = await join(name);
        const lostToken = (await (await other.mutex('m')).holdAsync()).token;
        await other.close();
        await setting.server.restart({ kill: true, keepData: true });
        await admin(rights);
        const next = await join(name);
        const { token } = await (await next.mutex('m')).holdAsync();
        if (isSeen) expect(token).toBeGreaterThan(lostToken);
        await until(() => events.includes('resumed') && (!isSeen || events.includes('failover')));
        // The process whose grant is lost hears of it all the same.
        await until(() => held.signal.aborted);
        expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
        expect(events.includes('failover')).toBe(isSeen);
        expect((await next.inspect()).epoch > epoch).toBe(isSeen);
        // A process that knew a larger token has connected again, so tokens are above it now.
        const last = (await (await next.mutex('another')).holdAsync()).token;
        expect(last).toBeGreaterThan(held.token);
      });
    }
  },
  'first',
);
