/**
 * Fails to connect to a server, and must end then: whatever the client library was making when the space gave up.
 * argv: the library, the form of the client, the port, and the milliseconds after which the space gives up.
 */
import { Space } from 'taketurns-processes';

const [library, form, port, connectTimeout] = process.argv.slice(2);
const address = { host: '127.0.0.1', port: Number(port) };
/** No client gives up by itself. */
const LONG = 600_000;

async function clientOf() {
  if (library === '@valkey/valkey-glide') {
    const { GlideClient, GlideClusterClient, Logger } = await import(library);
    Logger.setLoggerConfig('off');
    const advancedConfiguration = { connectionTimeout: LONG };
    const Client = form === 'cluster' ? GlideClusterClient : GlideClient;
    const client = await Client.createClient({ addresses: [address], lazyConnect: true, advancedConfiguration });
    return { client, end: () => client.close() };
  }
  if (library.startsWith('redis')) {
    const { createClient, createCluster } = await import(library);
    const options = { socket: { ...address, connectTimeout: LONG } };
    return { client: form === 'cluster' ? createCluster({ rootNodes: [options] }) : createClient(options), end() {} };
  }
  const { Redis, Cluster } = await import(library);
  const options = { lazyConnect: true, connectTimeout: LONG };
  if (form === 'cluster')
    return { client: new Cluster([address], { lazyConnect: true, redisOptions: options }), end() {} };
  const where = form === 'sentinel' ? { sentinels: [address], name: 'main' } : address;
  return { client: new Redis({ ...options, ...where }), end() {} };
}

const { client, end } = await clientOf();
client.on?.('error', () => {});
const { code } = await Space.connect(client, { connectTimeout: Number(connectTimeout) }).catch((error) => error);
end();
console.log(code);
