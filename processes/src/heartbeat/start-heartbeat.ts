/**
 * Loads heartbeat.ts only if the user wants a thread that beats. heartbeat.ts starts the thread from another file, and
 * the thread imports a module whose name is known only at run time. A bundle could contain neither that file nor that
 * module. So the `import` here is written in such a way that bundlers do not follow it.
 */
import { beside } from '../runtime/beside.js';
import type { BeatOptions, Heartbeat } from './heartbeat.js';

const HERE = import.meta.url;

/** Resolves when the thread was started. `Heartbeat.ready` resolves later, when the thread's client is connected. */
export async function startHeartbeat(
  client: string,
  lease: number,
  partitions: number,
  options: BeatOptions,
): Promise<Heartbeat> {
  const load = async (): Promise<typeof import('./heartbeat.js')> =>
    import(/* webpackIgnore: true */ /* @vite-ignore */ beside('heartbeat', HERE).href);
  const module = await load().catch((cause: Error) => {
    throw new Error(`with \`heartbeat\` a bundler must leave taketurns-processes external: ${cause.message}`, {
      cause,
    });
  });
  return new module.Heartbeat(client, lease, partitions, options);
}
