import { Space } from 'taketurns-processes';

// A bundle does not contain the file from which the heartbeat thread starts.
const { client } = globalThis;
const heartbeat = new URL('client.js', import.meta.url);
await Space.connect(client, { heartbeat }).catch((error) => console.log(error.message));
client.disconnect();
