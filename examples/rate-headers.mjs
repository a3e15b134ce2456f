// A server that tells each client its quota, in the fields of draft-ietf-httpapi-ratelimit-headers: RateLimit-Policy has
// the quota q of a window of w seconds, and RateLimit how much of it is left (r), and in how many seconds there is more (t).
import { createServer } from 'node:http';
import { KeyedRateLimiter } from 'taketurns/keyed';

const users = KeyedRateLimiter.open('users', 3, 60_000, { burst: 3 }); // 3 in any minute, for each user, at once or not

const server = createServer((request, response) => {
  const user = request.headers['x-user'] ?? '';
  const isAllowed = users.tryTake(user);
  const { permits, per, taken } = users.inspect(user);
  response.setHeader('RateLimit-Policy', `"users";q=${permits};w=${Math.ceil(per / 1000)}`);
  if (isAllowed) response.setHeader('RateLimit', `"users";r=${Math.max(permits - taken, 0)}`);
  else {
    const seconds = Math.ceil(users.dueIn(user) / 1000);
    response.setHeader('RateLimit', `"users";r=0;t=${seconds}`);
    response.setHeader('Retry-After', seconds);
  }
  response.writeHead(isAllowed ? 200 : 429).end();
});

await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const address = `http://127.0.0.1:${server.address().port}`;
for (const user of ['Ann', 'Ann', 'Ann', 'Bob', 'Ann']) {
  const { status, headers } = await fetch(address, { headers: { 'x-user': user, connection: 'close' } });
  console.log(
    `${user} ${status} RateLimit-Policy: ${headers.get('RateLimit-Policy')} RateLimit: ${headers.get('RateLimit')}`,
  );
}
server.close();
