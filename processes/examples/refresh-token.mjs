/**
 * A command that needs a token that expires, and may run many times at once. Whoever finds the token expired refreshes it,
 * and all others wait for the new one: read, lock, read again. If a process dies meanwhile, the next one refreshes it.
 *
 *     node processes/examples/refresh-token.mjs
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Space } from 'taketurns-processes';

if (process.send === undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'token-'));
  const four = [1, 2, 3, 4].map(() => fork(fileURLToPath(import.meta.url), [join(folder, 'token.json')]));
  await Promise.all(four.map((child) => once(child, 'exit')));
  await rm(folder, { recursive: true });
} else {
  const file = process.argv[2]; // yours is constant, as are the names of the space and of the mutex
  const space = await Space.local({ space: 'example-refresh-token' });
  const refreshing = await space.mutex(`token ${process.ppid}`);

  /** The text of the token, if it is still good. */
  const read = async () => {
    const { text, expires } = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
    return expires > Date.now() ? text : undefined;
  };

  const refresh = async () => {
    console.log('refreshes the token');
    await sleep(100); // stands for the request to the server that gives tokens
    await writeFile(`${file}.new`, JSON.stringify({ text: 'abc', expires: Date.now() + 60_000 }));
    await rename(`${file}.new`, file); // so that nobody reads half of it
    return 'abc';
  };

  const text =
    (await read()) ??
    (await refreshing.runExclusive(async () => (await read()) ?? (await refresh()), { timeout: 10_000 }));
  console.log(`works with ${text}`);
  await space.close();
  process.disconnect();
}
