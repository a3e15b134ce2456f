/** A server as clients see it over a network: through a proxy that delays. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Server } from '../servers/servers.js';
import { end, next } from './programs.js';

const PROXY = fileURLToPath(new URL('proxy-program.js', import.meta.url));

/** Calls `use` with a port that leads to the server, but makes each round trip `roundTrip` milliseconds longer. */
export async function delayed<T>(server: Server, roundTrip: number, use: (port: number) => Promise<T>): Promise<T> {
  const proxy = fork(PROXY, [String(server.port), String(roundTrip)]);
  try {
    return await use(Number(await next(proxy)));
  } finally {
    await end(proxy);
  }
}
