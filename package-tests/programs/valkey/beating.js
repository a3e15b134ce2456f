import { Space } from 'taketurns-valkey';

// A bundle has no file from which the thread could start.
const { client } = globalThis;
const heartbeat = new URL('client.js', import.meta.url);
await Space.connect(client, { heartbeat }).catch((error) => console.log(error.message));
client.disconnect();
