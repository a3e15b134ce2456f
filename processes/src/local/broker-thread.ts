/**
 * The thread of a broker. It listens before it takes over from the broker that its process has had until now, so that
 * the members find it at once. The build makes a text of this file with all that it imports (rolldown.threads.mjs), so a
 * bundle and a program in one file have it too.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Broker } from './broker.js';
import { close, Folder } from './generations.js';

/** What the thread is started with: the folder of the space, and the member of its process. */
export interface ThreadData {
  readonly path: string;
  readonly member: string;
}

async function start({ path, member }: ThreadData): Promise<void> {
  const folder = new Folder(path);
  const before = folder.highest();
  const ended = (error: unknown): void => {
    if (error) parentPort?.postMessage(`${error}`);
  };
  try {
    // Otherwise another process has taken over meanwhile.
    if (before?.address.member === member)
      await Broker.start(folder, before, member, { ended, joined: () => {} }, true);
  } finally {
    close(before);
  }
}

void start(workerData);
