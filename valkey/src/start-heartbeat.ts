/**
 * Loads heartbeat.ts where it is wanted. It starts a thread from a file of its own, and what the thread imports is known
 * only when it runs. So a bundle could hold neither, and the name is not where a bundler would find it.
 */
import type { Heartbeat } from './heartbeat.js';

const MODULE = './heartbeat.js';
const HERE = import.meta.url;

/** Resolves when the thread runs. It may not be connected yet. */
export async function startHeartbeat(client: string, lease: number, partitions: number): Promise<Heartbeat> {
  const loading: Promise<typeof import('./heartbeat.js')> = import(
    /* webpackIgnore: true */ /* @vite-ignore */ new URL(MODULE, HERE).href
  );
  const module = await loading.catch((cause: Error) => {
    throw new Error(`with \`heartbeat\` a bundler must leave taketurns-valkey external: ${cause.message}`, { cause });
  });
  return new module.Heartbeat(client, lease, partitions);
}
