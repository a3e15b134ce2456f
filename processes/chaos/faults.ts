/**
 * The faults for each engine: which servers a fault needs, what it does how often, and whether it may lose answered
 * calls.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Binary } from '../servers/servers.js';
import type { Clients } from './clients.js';
import { type PostgresKind, PostgresWorld } from './postgres-world.js';
import { type RedisKind, RedisWorld } from './redis-world.js';
import { Stuck, type World } from './world.js';

export interface Scene<W extends World = World> {
  readonly world: W;
  readonly clients: Clients;
  readonly lease: number;
}

/** What runs on this machine: a server of Redis or Valkey, or PostgreSQL. */
export interface Engine {
  readonly name: Binary['name'] | 'postgresql';
  readonly version: string;
}

/** An action that is repeated. `counts` is the name of its count. `Clients` counts the actions on processes. */
interface Disturbance<W extends World = World> {
  readonly counts?: string;
  /** Milliseconds between two such actions. */
  readonly every: number;
  act(scene: Scene<W>): unknown;
}

export interface Fault {
  readonly name: string;
  /** Builds the world of a run. Resolves to the reason as a text if the machine lacks something for it. */
  readonly build: (server: Engine) => Promise<World | string>;
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
const cutBy = (counts: string): Disturbance => ({
  counts,
  every: 50,
  act: ({ world }) => world.cut(++turn % 2 ? 'messages' : 'commands'),
});
const cut = cutBy('CLIENT KILL');

const flush: Disturbance<RedisWorld> = {
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

const restart = (keepData: boolean): Disturbance<RedisWorld> => ({
  counts: 'restarts',
  every: 1500,
  act: ({ world }) => world.primary.restart({ kill: true, keepData }),
});

const promote: Disturbance = { counts: 'promotions', every: 2000, act: ({ world }) => world.promote(between(20, 300)) };

const failover: Disturbance<RedisWorld> = { counts: 'failovers', every: 1000, act: ({ world }) => world.failover() };

const reshard: Disturbance<RedisWorld> = { counts: 'slot moves', every: 500, act: ({ world }) => world.reshard() };

const redis = (kind: RedisKind) => (server: Engine) => RedisWorld.build(server as Binary, kind);

const FAULTS_OF_REDIS: readonly Fault[] = [
  { name: 'none', build: redis('server'), keeps: true, disturbances: [] },
  { name: 'kill', build: redis('server'), keeps: true, kills: 20, disturbances: [kill] },
  { name: 'stop', build: redis('server'), keeps: true, disturbances: [stop, stopHolder] },
  { name: 'client-kill', build: redis('server'), keeps: true, disturbances: [cut] },
  { name: 'script-flush', build: redis('server'), keeps: true, forgets: true, disturbances: [flush] },
  { name: 'network', build: redis('network'), keeps: true, disturbances: [disturbed] },
  { name: 'restart-always', build: redis('always'), keeps: true, forgets: true, disturbances: [restart(true)] },
  // The operating system keeps the data that the server has written. But the server may write them after its answer.
  { name: 'restart-everysec', build: redis('everysec'), keeps: false, forgets: true, disturbances: [restart(true)] },
  { name: 'restart-empty', build: redis('server'), keeps: false, forgets: true, disturbances: [restart(false)] },
  {
    name: 'sentinel',
    build: redis('sentinel'),
    keeps: false,
    forgets: true,
    splits: true,
    disturbances: [failover, stopHolder],
  },
  { name: 'promote', build: redis('pair'), keeps: false, forgets: true, disturbances: [promote, stopHolder] },
  { name: 'cluster', build: redis('cluster'), keeps: true, forgets: true, disturbances: [reshard] },
  { name: 'clock', build: redis('clock'), keeps: true, disturbances: [jump] },
  {
    name: 'mixed',
    build: redis('mixed'),
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

const terminate = cutBy('pg_terminate_backend');

const shutDown: Disturbance<PostgresWorld> = {
  counts: 'immediate shutdowns',
  every: 3000,
  act: ({ world }) => world.restart({ immediate: true }),
};

const killServer: Disturbance<PostgresWorld> = {
  counts: 'kills of the server',
  every: 3000,
  act: ({ world }) => world.restart({ kill: true }),
};

const killBackend: Disturbance<PostgresWorld> = {
  counts: 'kills of a backend',
  every: 1500,
  act: ({ world }) => world.crash(),
};

const postgres = (kind: PostgresKind) => () => PostgresWorld.build(kind);

const FAULTS_OF_POSTGRES: readonly Fault[] = [
  { name: 'none', build: postgres('server'), keeps: true, disturbances: [] },
  { name: 'kill', build: postgres('server'), keeps: true, kills: 20, disturbances: [kill] },
  { name: 'stop', build: postgres('server'), keeps: true, disturbances: [stop, stopHolder] },
  { name: 'client-kill', build: postgres('server'), keeps: true, disturbances: [terminate] },
  { name: 'network', build: postgres('network'), keeps: true, disturbances: [disturbed] },
  { name: 'restart', build: postgres('server'), keeps: true, disturbances: [killServer, shutDown, killBackend] },
  { name: 'restart-loose', build: postgres('loose'), keeps: false, disturbances: [killServer, shutDown, killBackend] },
  { name: 'promote', build: postgres('pair'), keeps: false, forgets: true, disturbances: [promote, stopHolder] },
  { name: 'promote-synchronous', build: postgres('synchronous'), keeps: true, disturbances: [promote, stopHolder] },
  { name: 'clock', build: postgres('clock'), keeps: true, disturbances: [jump] },
  {
    name: 'mixed',
    build: postgres('mixed'),
    keeps: false,
    forgets: true,
    kills: 5,
    disturbances: [
      { ...kill, every: 200 },
      stop,
      stopHolder,
      { ...terminate, every: 500 },
      { ...disturbed, every: 50 },
      jump,
      { ...killServer, every: 10_000 },
      { ...shutDown, every: 10_000 },
      { ...killBackend, every: 10_000 },
      { ...promote, every: 5000 },
    ],
  },
];

/** The faults that there are for an engine. */
export const faultsFor = ({ name }: Pick<Engine, 'name'>): readonly Fault[] =>
  name === 'postgresql' ? FAULTS_OF_POSTGRES : FAULTS_OF_REDIS;

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
