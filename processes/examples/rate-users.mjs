/**
 * A web server of four processes on one machine, which answers each user at most five times a minute, whichever process
 * gets the request. With Redis or Valkey it is one line: `await Space.connect(client, ...)` in place of `Space.local`.
 *
 *     node processes/examples/rate-users.mjs
 */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Space } from 'taketurns-processes';

if (cluster.isPrimary) {
  const workers = [1, 2, 3, 4].map(() => cluster.fork());
  const [[{ port }]] = await Promise.all(workers.map((worker) => once(worker, 'listening'))); // all have the same port
  for (const [user, requests] of Object.entries({ Ann: 12, Bob: 3 })) {
    const headers = { 'X-User': user };
    const answers = await Promise.all(
      Array.from({ length: requests }, () => fetch(`http://localhost:${port}`, { headers })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    const after = refused.every((answer) => answer.headers.get('Retry-After') > 0);
    console.log(
      `${user}: ${requests - refused.length} answered, ${refused.length} refused${after ? '' : ', not until when'}`,
    );
  }
  cluster.disconnect();
} else {
  const space = await Space.local({ space: 'example-rate-users' });
  // Here each run of the example has a name of its own. Yours is constant.
  const users = space.keyedRateLimiter(`users ${process.ppid}`, 5, 60_000, { burst: 5 });
  createServer(async (request, response) => {
    const user = request.headers['x-user'];
    if (await users.tryTake(user)) response.end('hello');
    else response.writeHead(429, { 'Retry-After': Math.ceil((await users.dueIn(user)) / 1000) }).end();
  }).listen(0);
}
