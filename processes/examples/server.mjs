/**
 * A server for the examples: the one at REDIS_URL, or else one of their own, on a free port, with its data in a
 * temporary folder, which ends with the program.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (value) => () => {
      socket.destroy();
      resolve(value);
    };
    socket.on('connect', answer(true)).on('error', answer(false));
  });
}

/** Starts the program if it is installed, and resolves to its address. */
async function start(name) {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'taketurns-example-'));
  const server = spawn(`${name}-server`, ['--port', port, '--bind', '127.0.0.1', '--dir', dir, '--save', ''], {
    stdio: 'ignore',
  });
  let isThere = true;
  server.on('error', () => {
    isThere = false;
  });
  process.on('exit', () => {
    server.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  server.unref();
  while (isThere && server.exitCode === null) {
    if (await listens(port)) return `redis://127.0.0.1:${port}`;
    await sleep(20);
  }
  return undefined;
}

/** Resolves to the address of a server. Where there is none, says how to get one, and ends the program. */
export async function findServer() {
  if (process.env.REDIS_URL) return process.env.REDIS_URL;
  // Also on Ctrl-C the server must end.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const url = (await start('valkey')) ?? (await start('redis'));
  if (url) return url;
  console.error(
    'No server found. Install one (Debian, Ubuntu: apt-get install redis-server; macOS: brew install valkey),',
  );
  console.error('or say where one is: REDIS_URL=redis://localhost:6379 npm start -w processes');
  process.exit(2);
}
