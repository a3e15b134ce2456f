/** The servers of Redis or Valkey of a run, and the faults that can be done to them. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Binary,
  type Cluster,
  type Server,
  startCluster,
  startReplica,
  startSentinel,
  startServer,
} from '../servers/servers.js';
import { slotOf } from '../src/drivers/connections.js';
import { microseconds } from './clients.js';
import { JumpingClock } from './clock.js';
import { Network } from './network.js';
import type { RedisAddress } from './plan.js';
import { readState, type State } from './state.js';
import { until, World } from './world.js';

export type RedisKind =
  | 'server'
  | 'network'
  | 'always'
  | 'everysec'
  | 'sentinel'
  | 'pair'
  | 'cluster'
  | 'clock'
  | 'mixed';

const ALWAYS = ['--appendonly', 'yes', '--appendfsync', 'always'];
const EVERYSEC = ['--appendonly', 'yes', '--appendfsync', 'everysec'];

export class RedisWorld extends World {
  address: RedisAddress = { kind: 'server', port: 0 };
  cluster: Cluster | undefined;
  sentinel: Server | undefined;
  replica: Server | undefined;
  /** The server that the processes use. */
  primary!: Server;

  /** Builds the world. Returns the reason as a text if the machine lacks something for it. */
  static build(binary: Binary, kind: RedisKind): Promise<RedisWorld | string> {
    const world = new RedisWorld();
    return world.built(() => world.#build(binary, kind));
  }

  async #build(server: Binary, kind: RedisKind): Promise<string | undefined> {
    if (kind === 'cluster') {
      this.cluster = await startCluster(3, 1, { server });
      this.isWhole = false;
      this.primary = this.cluster.nodes[await this.cluster.ownerOf(this.#slot)] as Server;
      this.address = { kind: 'cluster', ports: this.cluster.nodes.map(({ port }) => port) };
      return;
    }
    let env: Record<string, string> = {};
    if (kind === 'clock' || kind === 'mixed') {
      const clock = JumpingClock.make(this.dir);
      if (typeof clock === 'string' && kind === 'clock') return clock;
      if (typeof clock !== 'string') {
        this.clock = clock;
        env = clock.env;
      }
    }
    const args = kind === 'always' ? ALWAYS : kind === 'everysec' ? EVERYSEC : [];
    this.primary = await startServer({ server, args, env });
    this.address = { kind: 'server', port: this.primary.port };
    if (kind === 'sentinel' || kind === 'pair' || kind === 'mixed') {
      this.replica = await startReplica(this.primary, { env });
    }
    if (kind === 'sentinel') {
      this.sentinel = await startSentinel(this.primary, { replicas: 1 });
      this.address = { kind: 'sentinel', ports: [this.sentinel.port] };
    }
    if (kind === 'network' || kind === 'pair' || kind === 'mixed') {
      this.network = await Network.start(this.primary.port);
      this.address = { kind: 'server', port: this.network.port };
    }
    return undefined;
  }

  get #slot(): number {
    return slotOf(`tt:{${this.space}.0}:meta`);
  }

  state(): Promise<State> {
    return readState(this.primary.port, this.space);
  }

  async cut(what: 'commands' | 'messages'): Promise<void> {
    const type = what === 'commands' ? 'normal' : 'pubsub';
    await this.primary.send('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
  }

  async promote(ms: number, least = 10): Promise<void> {
    const [old, next] = [this.primary, this.replica as Server];
    const from = microseconds();
    await next.send('REPLICAOF', 'NO', 'ONE');
    const before = least > 0 ? await this.#ticketOf(next) : 0;
    const end = performance.now() + 2000;
    await sleep(ms);
    while (least > 0 && (await this.#ticketOf(old)) < before + least && performance.now() < end) await sleep(20);
    (this.network as Network).target = next.port;
    (this.network as Network).cutAll();
    this.forks.push({ from, to: microseconds() });
    this.primary = next;
    this.replica = old;
    if (least > 0) this.lostTickets += Math.max(0, (await this.#ticketOf(old)) - before);
    // Another fault may cut this connection, too. So the command is repeated.
    await until('a server is a replica', async () => (await old.send('REPLICAOF', '127.0.0.1', next.port)) === 'OK');
    await linked(old);
  }

  async #ticketOf({ port }: Server): Promise<number> {
    let ticket = 0;
    await until('the state can be read', async () => {
      ({ ticket } = await readState(port, this.space));
      return true;
    });
    return ticket;
  }

  /** The primary is killed, and Sentinel promotes the replica. The old primary comes back as the replica. */
  async failover(): Promise<void> {
    const [old, next] = [this.primary, this.replica as Server];
    const from = microseconds();
    const sentinel = this.sentinel as Server;
    process.kill(old.pid, 'SIGKILL');
    await until('Sentinel names the replica', async () => {
      const [, port] = (await sentinel.send('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')) as [string, string];
      return Number(port) === next.port;
    });
    this.primary = next;
    this.replica = old;
    await old.restart({ keepData: false });
    await old.send('REPLICAOF', '127.0.0.1', next.port);
    await linked(old);
    this.forks.push({ from, to: microseconds() });
    // This may take a while, because Sentinel asks the replicas only every ten seconds.
    await until('Sentinel knows the new replica', async () => {
      const [replica = []] = (await sentinel.send('SENTINEL', 'REPLICAS', 'main')) as string[][];
      return (
        replica[replica.indexOf('flags') + 1] === 'slave' && replica[replica.indexOf('master-link-status') + 1] === 'ok'
      );
    });
  }

  /** The slot of the space, with all keys, moves to the next primary of the cluster. */
  async reshard(): Promise<void> {
    const cluster = this.cluster as Cluster;
    const owner = await cluster.ownerOf(this.#slot);
    const next = (owner + 1) % cluster.primaries;
    await cluster.moveSlot(this.#slot, next);
    this.primary = cluster.nodes[next] as Server;
  }

  protected async end(): Promise<void> {
    await Promise.all([this.sentinel?.kill(), this.cluster?.stop()]);
    await Promise.all([this.cluster ? undefined : this.primary?.kill(), this.replica?.kill()]);
  }
}

async function linked(replica: Server): Promise<void> {
  await until('a replica has the data', async () =>
    `${await replica.send('INFO', 'replication')}`.includes('master_link_status:up'),
  );
}
