/** The servers of PostgreSQL of a run, and the faults that can be done to them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { schema } from '../src/drivers/schema.js';
import { microseconds } from './clients.js';
import { JumpingClock } from './clock.js';
import { Network } from './network.js';
import type { ServerAddress } from './plan.js';
import { readTables, type State } from './state.js';
import { until, World } from './world.js';

/**
 * loose: calls do not wait for the disk. pair: the replica may lack the last writes. synchronous: a call is answered when
 * the replica has its writes.
 */
export type PostgresKind = 'server' | 'loose' | 'network' | 'pair' | 'synchronous' | 'clock' | 'mixed';

/** A clock that jumps must not end the streams to replicas. A replica that was cut off comes again soon. */
const STREAMS = ['wal_sender_timeout=0', 'wal_receiver_timeout=0', 'wal_retrieve_retry_interval=100'];

/** The clients that run calls have done so by their last statement. */
const CLIENTS = {
  commands: `backend_type = 'client backend' and query ~ 'turn_1' and pid <> pg_backend_pid()`,
  messages: `backend_type = 'client backend' and query !~ 'turn_1' and pid <> pg_backend_pid()`,
};

export class PostgresWorld extends World {
  address: ServerAddress = { kind: 'postgresql', port: 0, durable: true };
  /** The server that the processes use. */
  primary!: PostgresServer;
  replica: PostgresServer | undefined;
  #isSynchronous = false;
  #env: Record<string, string> = {};
  /** Servers end, start and are promoted one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /** Builds the world. Returns the reason as a text if the machine lacks something for it. */
  static build(kind: PostgresKind): Promise<PostgresWorld | string> {
    const world = new PostgresWorld();
    return world.built(() => world.#build(kind));
  }

  async #build(kind: PostgresKind): Promise<string | undefined> {
    this.#isSynchronous = kind === 'synchronous';
    if (kind === 'clock' || kind === 'mixed') {
      const clock = JumpingClock.make(this.dir);
      if (typeof clock === 'string' && kind === 'clock') return clock;
      if (typeof clock !== 'string') {
        this.clock = clock;
        this.#env = clock.env;
      }
    }
    this.primary = await this.#start();
    if (kind === 'pair' || kind === 'synchronous' || kind === 'mixed') this.replica = await this.#start(this.primary);
    await this.primary.query(await schema());
    let { port } = this.primary;
    if (kind === 'network' || this.replica) {
      this.network = await Network.start(port);
      port = this.network.port;
    }
    this.address = { kind: 'postgresql', port, durable: kind !== 'loose' };
    return undefined;
  }

  async #start(of?: PostgresServer): Promise<PostgresServer> {
    const lines = this.#isSynchronous ? [...STREAMS, 'synchronous_standby_names=*'] : STREAMS;
    const server = await startPostgres({
      args: lines.flatMap((line) => ['-c', line]),
      env: this.#env,
      ...(of && { of }),
    });
    const isStreaming = "select from pg_stat_wal_receiver where status = 'streaming'";
    if (of) await until('a replica has the data', async () => (await server.query(isStreaming)).length > 0);
    return server;
  }

  state(): Promise<State> {
    return readTables(this.primary, this.space);
  }

  async cut(what: 'commands' | 'messages'): Promise<void> {
    await this.primary.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${CLIENTS[what]}`);
  }

  restart(how: { kill?: boolean; immediate?: boolean }): Promise<void> {
    return this.#alone(() =>
      until('the server has started again', async () => {
        await this.primary.restart(how);
        return true;
      }),
    );
  }

  /** Kills a backend that runs calls. Then the server ends all backends, and starts again by itself. */
  crash(): Promise<void> {
    return this.#alone(async () => {
      const text = `select pid from pg_stat_activity where ${CLIENTS.commands} order by random() limit 1`;
      const [backend] = await this.primary.query(text);
      if (backend) process.kill(Number(backend.pid), 'SIGKILL');
    });
  }

  promote(ms: number, least = 10): Promise<void> {
    return this.#alone(() => this.#promote(ms, least));
  }

  async #promote(ms: number, least: number): Promise<void> {
    const [old, next] = [this.primary, this.replica as PostgresServer];
    const from = microseconds();
    await next.query('select pg_promote()');
    if (this.#isSynchronous) await sleep(ms);
    else {
      const ticketOf = async (server: PostgresServer) => (await readTables(server, this.space)).ticket;
      const before = await ticketOf(next);
      const end = performance.now() + 2000;
      await sleep(ms);
      while ((await ticketOf(old)) < before + least && performance.now() < end) await sleep(20);
      this.lostTickets += Math.max(0, (await ticketOf(old)) - before);
    }
    (this.network as Network).target = next.port;
    (this.network as Network).cutAll();
    // Without its replica the old primary has answered no call, so nothing has gone on there.
    if (!this.#isSynchronous) this.forks.push({ from, to: microseconds() });
    this.primary = next;
    await old.kill();
    this.replica = await this.#start(next);
  }

  #alone<T>(act: () => Promise<T>): Promise<T> {
    const acted = this.#last.then(act);
    this.#last = acted.catch(() => {});
    return acted;
  }

  protected async end(): Promise<void> {
    await this.#last;
    await Promise.all([this.primary?.kill(), this.replica?.kill()]);
  }
}
