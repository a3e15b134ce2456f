import { Space } from 'taketurns-processes';

// The client library is not part of the bundle. client.js makes the client.
const { client } = globalThis;
const space = await Space.connect(client, { space: `bundle ${client.options.port}` });
const mutex = await space.mutex('m', { ephemeral: true });
console.log(await mutex.runExclusive(({ token }) => typeof token));
await space.close();
client.disconnect();
