// Uses the package in CommonJS, with a thread that beats. `import` gives the same classes.
const { pathToFileURL } = require('node:url');
const { Redis } = require('ioredis');
const { Space, TimeoutError } = require('taketurns-processes');

async function main() {
  const client = new Redis(process.env.REDIS_URL);
  const heartbeat = pathToFileURL(require.resolve('./beats.js'));
  const space = await Space.connect(client, { space: `required ${process.pid}`, heartbeat });
  const mutex = await space.mutex('m', { ephemeral: true });
  const imported = await import('taketurns-processes');
  await mutex.runExclusive(async ({ token }) => {
    const late = await mutex.holdAsync({ timeout: 5 }).catch((error) => error);
    console.log(typeof token, late instanceof TimeoutError, imported.Space === Space);
  });
  await space.close();
  client.disconnect();
}

main();
