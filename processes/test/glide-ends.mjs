/** Takes a permit by a client of GLIDE, gives it back, and closes the client but not the space. argv: the port. */
import { GlideClient, Logger } from '@valkey/valkey-glide';
import { Space } from 'taketurns-processes';

// GLIDE writes a line when the server does not know the script yet.
Logger.setLoggerConfig('off');
const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: Number(process.argv[2]) }] });
const space = await Space.connect(client);
const semaphore = await space.semaphore('db', 1);
await semaphore.runExclusive(() => {});
client.close();
console.log('done');
