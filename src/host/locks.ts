/**
 * How deaths are noticed in browsers. Each worker holds a lock of the Web Locks API for its life. Another thread that
 * requests the same lock gets the lock when the worker has ended. The page makes this request, because its event loop
 * is never blocked for long.
 *
 *     worker                              page
 *     requests its lock, at load
 *     registers in the arena
 *     announces itself             ──►    looks whether its lock is requested; then requests it too
 *     its lock is granted          ──►    requests it too
 *     ...
 *     ends, and with it its lock   ──►    the lock is granted: reaps the worker
 *
 * Why the granted lock proves a death. The browser gives the lock of the worker back only when the worker has stopped:
 * Chromium lets a terminated worker compute on for up to 2 s, and grants the lock to the page after the last step of
 * the worker. Requests are granted in their order, and the page requests a lock only when it knows that the worker has
 * requested it before.
 *
 * The request needs no turn of the worker's event loop, only some milliseconds, and more if all processors are busy.
 * If a worker ends before its request has arrived, its death is not noticed (docs/runtimes.md). A worker that shares an
 * arena does for the arena what the page does.
 */
import type { Deaths, Registry } from './host.js';
import { setTimeout, threads } from './surroundings.js';
import { isWatched, randomName, unwatch } from './watched.js';

// On Node, a channel that listens would keep the process alive.
const locks = (threads ? undefined : globalThis.navigator?.locks) as LockManager;
const PREFIX = 'taketurns:';
export const threadName = randomName();

/** The arenas in which this thread is, by their ids. If the thread watches over one: a function that ends the watch. */
const mine = new Map<bigint, (() => void) | undefined>();
let holds = false;

function announce(id: bigint): void {
  const channel = new BroadcastChannel(PREFIX + id);
  channel.postMessage(holds && threadName);
  channel.close();
}

if (locks && typeof document === 'undefined') {
  const life = new Promise(() => {});
  const granted = () => {
    holds = true;
    for (const id of mine.keys()) announce(id);
    return life;
  };
  locks.request(PREFIX + threadName, granted).catch(() => {});
}

export const deaths: Deaths | undefined = locks && {
  unwatch,
  isWatched,
  watchOver(memory, _, id, core) {
    if (mine.get(id) || !isWatched(memory)) return;
    let registry: Registry | undefined = core;
    const heard = new Set([threadName]);
    const each = (run: (name: number, thread: number) => void) => {
      for (let i = registry ? registry.mostThreads() : 0; i > 0; i--) run((registry as Registry).runtimeIdOf(i), i);
    };
    const hear = (name: number) => {
      if (heard.has(name)) return;
      heard.add(name);
      const reap = () =>
        each((dead, thread) => {
          if (dead === name) registry?.reap(thread, registry.lifeIfAlive(thread), 0);
        });
      // The browser may refuse, as it does if the storage of the page is cleared.
      locks
        .request(PREFIX + name, reap)
        .catch(() => {})
        .then(() => heard.delete(name));
    };
    /**
     * The request of a worker may arrive after its announcement. The worker may then end before its event loop turns,
     * so that it never says that it has its lock. So the page looks again and again, and waits twice as long each time,
     * from the first number of milliseconds to the last.
     */
    const SOON = 2;
    const LAST = 2048;
    const look = async (delay = Infinity): Promise<void> => {
      const { held = [], pending = [] } = await locks.query().catch((): LockManagerSnapshot => ({}));
      const requested = new Set([...held, ...pending].map(({ name }) => name));
      each((name) => {
        if (requested.has(PREFIX + name)) hear(name);
      });
      if (delay <= LAST) setTimeout(look, delay, 2 * delay);
    };
    const channel = new BroadcastChannel(PREFIX + id);
    channel.onmessage = ({ data }) => {
      if (data) hear(data);
      else look(SOON);
    };
    mine.set(id, () => {
      channel.close();
      // A request for a lock may last for as long as the page. It must not keep the memory.
      registry = undefined;
    });
    look();
  },
  openLine: (memory, id) =>
    isWatched(memory)
      ? {
          announce() {
            mine.set(id, undefined);
            announce(id);
          },
          close() {
            mine.get(id)?.();
            mine.delete(id);
          },
        }
      : undefined,
};
