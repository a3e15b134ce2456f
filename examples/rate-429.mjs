// A server answers 429 with Retry-After. `pause` then lets no call begin before that time, whoever asks. The call that was
// refused asks again, behind those that wait.
// Run: node node_modules/taketurns/examples/rate-429.mjs
// In a clone of the repository: node examples/rate-429.mjs
import { once } from 'node:events';
import { createServer } from 'node:http';
import { RateLimiter } from 'taketurns/tasks';

const requests = new RateLimiter(10, 100, { burst: 10 }); // what we believe that the server bears
const send = requests.limit((address) => fetch(address)); // a permit counts from the moment at which `fetch` is called

/** Asks until the server answers with something else than 429. */
async function get(address) {
  for (;;) {
    const response = await send(address);
    if (response.status !== 429) return response.text();
    requests.pause(millisecondsUntil(response.headers.get('Retry-After')));
  }
}

/** Retry-After is a number of seconds, or a date. */
function millisecondsUntil(after) {
  const milliseconds = /^\d+$/.test(after) ? 1000 * after : Date.parse(after) - Date.now();
  return Math.max(milliseconds || 0, 0);
}

// Stands for the server: it answers four requests, then refuses all for almost a second, and then answers again.
let [answered, calmAt, refusedLater] = [0, undefined, 0];
const server = createServer((_, response) => {
  if (answered === 4) calmAt ??= Date.now() + 900;
  if (answered < 4 || Date.now() >= calmAt) response.end(`page ${++answered}`);
  else response.writeHead(429, { 'Retry-After': 1 }).end();
  if (answered > 4 && response.statusCode === 429) refusedLater++;
});
await once(server.listen(0), 'listening');

const address = `http://localhost:${server.address().port}`;
const pages = await Promise.all(Array.from({ length: 10 }, () => get(address)));
console.log(`${pages.length} pages, and ${refusedLater} requests were refused after the pause`);
server.close();
server.closeAllConnections();
