/** The faults: which servers each fault needs, what it does how often, and whether it may lose answered calls. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clients } from './clients.js';
import { type Kind, Stuck, type World } from './world.js';

export interface Scene {
  readonly world: World;
  readonly clients: Clients;
  readonly lease: number;
}

/** An action that is repeated. `counts` is the name of its count. `Clients` counts the actions on processes. */
interface Disturbance {
  readonly counts?: string;
  /** Milliseconds between two such actions. */
  readonly every: number;
  act(scene: Scene): unknown;
}

export interface Fault {
  readonly name: string;
  readonly kind: Kind;
  /** Whether the server keeps all calls that it has answered. */
  readonly keeps: boolean;
  /** Whether two primaries may serve at once for a while. The old one may then grant after grants of the new one. */
  readonly splits?: boolean;
  /** Whether the server may forget the script, or another server may take its place. */
  readonly forgets?: boolean;
  /** The most processes that the fault kills in a second. */
  readonly kills?: number;
  readonly disturbances: readonly Disturbance[];
}

const between = (least: number, most: number): number => least + Math.random() * (most - least);

const kill: Disturbance = { every: 50, act: ({ clients }) => clients.kill() };

const stop: Disturbance = {
  every: 100,
  act: ({ clients, lease }) => clients.stop(between(0.5, 2) * lease),
};

const stopHolder: Disturbance = {
  every: 100,
  act: ({ clients, lease }) => clients.stopHolder(between(1, 2) * lease),
};

let turn = 0;
const cut: Disturbance = {
  counts: 'CLIENT KILL',
  every: 50,
  act: ({ world }) => world.primary.send('CLIENT', 'KILL', 'TYPE', ++turn % 2 ? 'pubsub' : 'normal', 'SKIPME', 'yes'),
};

const flush: Disturbance = {
  counts: 'SCRIPT FLUSH',
  every: 10,
  act: ({ world }) => world.primary.send('SCRIPT', 'FLUSH'),
};

const disturbed: Disturbance = {
  counts: 'cuts and stalls',
  every: 20,
  act({ world: { network }, lease }) {
    const what = Math.floor(Math.random() * 4);
    if (what === 0) network?.cut();
    else if (what === 1) network?.halve();
    else if (what === 2) network?.stall(between(0.01, 0.9) * lease);
    else network?.delay(between(1, 50), between(100, 500));
  },
};

const jump: Disturbance = { counts: 'clock jumps', every: 1000, act: ({ world }) => world.clock?.jump() };

const restart = (keepData: boolean): Disturbance => ({
  counts: 'restarts',
  every: 1500,
  act: ({ world }) => world.primary.restart({ kill: true, keepData }),
});

const promote: Disturbance = { counts: 'promotions', every: 2000, act: ({ world }) => world.promote(between(20, 300)) };

const failover: Disturbance = { counts: 'failovers', every: 1000, act: ({ world }) => world.failover() };

const reshard: Disturbance = { counts: 'slot moves', every: 500, act: ({ world }) => world.reshard() };

export const FAULTS: readonly Fault[] = [
  { name: 'none', kind: 'server', keeps: true, disturbances: [] },
  { name: 'kill', kind: 'server', keeps: true, kills: 20, disturbances: [kill] },
  { name: 'stop', kind: 'server', keeps: true, disturbances: [stop, stopHolder] },
  { name: 'client-kill', kind: 'server', keeps: true, disturbances: [cut] },
  { name: 'script-flush', kind: 'server', keeps: true, forgets: true, disturbances: [flush] },
  { name: 'network', kind: 'network', keeps: true, disturbances: [disturbed] },
  { name: 'restart-always', kind: 'always', keeps: true, forgets: true, disturbances: [restart(true)] },
  // The operating system keeps the data that the server has written. But the server may write them after its answer.
  { name: 'restart-everysec', kind: 'everysec', keeps: false, forgets: true, disturbances: [restart(true)] },
  { name: 'restart-empty', kind: 'server', keeps: false, forgets: true, disturbances: [restart(false)] },
  {
    name: 'sentinel',
    kind: 'sentinel',
    keeps: false,
    forgets: true,
    splits: true,
    disturbances: [failover, stopHolder],
  },
  { name: 'promote', kind: 'pair', keeps: false, forgets: true, disturbances: [promote, stopHolder] },
  { name: 'cluster', kind: 'cluster', keeps: true, forgets: true, disturbances: [reshard] },
  { name: 'clock', kind: 'clock', keeps: true, disturbances: [jump] },
  {
    name: 'mixed',
    kind: 'mixed',
    keeps: false,
    forgets: true,
    kills: 5,
    disturbances: [
      { ...kill, every: 200 },
      stop,
      stopHolder,
      { ...cut, every: 500 },
      { ...flush, every: 50 },
      { ...disturbed, every: 50 },
      jump,
      { ...promote, every: 5000 },
    ],
  },
];

/** Repeats the disturbances of the fault until `isOver`. Returns their counts. */
export async function disturb(fault: Fault, scene: Scene, isOver: () => boolean): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await Promise.all(
    fault.disturbances.map(async ({ counts: name, every, act }) => {
      let due = performance.now() + Math.min(every, 100);
      // Each disturbance happens at least once, however short the run is.
      for (let done = 0; done === 0 || !isOver(); done++) {
        await sleep(due - performance.now());
        if (done > 0 && isOver()) break;
        try {
          await act(scene);
          if (name) counts[name] = (counts[name] ?? 0) + 1;
        } catch (error) {
          // Other errors only say that the server was not there, because another disturbance has just ended it.
          if (error instanceof Stuck) scene.clients.troubles.push(error.message);
        }
        // A quick action comes whenever it is due. After an action that took long there is a pause.
        const now = performance.now();
        due = due + every > now ? due + every : now + every;
      }
    }),
  );
  return counts;
}
