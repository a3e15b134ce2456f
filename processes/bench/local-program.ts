/**
 * A process of the benchmark of spaces without a server. Its parent tells it what to do, one step after the other; each
 * answer is a list of numbers. Times are microseconds, instants those of the monotonic clock of the machine.
 */
import { once } from 'node:events';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import lockfile from 'proper-lockfile';
import { type Held, type Mutex, Space } from 'taketurns-processes';

/** Where a space is: a folder of this machine, or the Unix socket of a server. */
export type Place = { readonly directory: string } | { readonly socket: string };

export interface Steps {
  /** Joins the space, and opens its mutex. Answers how long the joining took. */
  join(place: Place): Promise<number[]>;
  /** Takes and gives back, one after the other, with nobody else there. Answers the time of each pair. */
  pairs(count: number): Promise<number[]>;
  /** The same, but nobody waits until what was given back has arrived. */
  pairsWithoutWaiting(count: number): Promise<number[]>;
  /** The same by proper-lockfile, on this file. */
  files(file: string, count: number): Promise<number[]>;
  /** Sends back what it hears at this Unix socket. */
  echo(path: string): Promise<number[]>;
  /** Connects to such a socket, and sends two lines one after the other. Answers the time of connecting, then those of each two. */
  lines(path: string, count: number): Promise<number[]>;
  /**
   * Makes the system calls of a first process, or of another one, that joins a space, and nothing else. Answers how long
   * they took.
   */
  bareFirst(folder: string): Promise<number[]>;
  bareOther(folder: string): Promise<number[]>;
  /** Loads files of the package that a process loads when it joins. Answers how long all of it took. */
  load(names: readonly string[]): Promise<number[]>;
  /** Takes and gives back for so many milliseconds, while others do so too. Answers the time from asking to holding. */
  turns(ms: number): Promise<number[]>;
  /** Lets those who send a line to this Unix socket have their turns in order. A turn ends with another line. */
  relay(path: string): Promise<number[]>;
  /** Takes turns at such a socket, as `turns` does by a mutex. */
  bareTurns(path: string, ms: number): Promise<number[]>;
  /** Answers how often a thread of this process has gone to sleep, to be woken later. */
  switches(): Promise<number[]>;
  /** So many requests of this process wait, again and again, for so many milliseconds. Answers how many had their turn. */
  crowd(requests: number, ms: number): Promise<number[]>;
  hold(): Promise<number[]>;
  /** Waits for the mutex. Answers when it held it. */
  next(): Promise<number[]>;
  unlock(): Promise<number[]>;
  /** Answers how much memory the process has, in bytes. */
  memory(): Promise<number[]>;
}

const micros = (): number => Number(process.hrtime.bigint() / 1000n);

const LINE = `[1,${'"of a usual length",'.repeat(5)}0]\n`;

/** Returns a function that sends a line to this Unix socket and waits for one, and a function that ends this. */
function caller(path: string): { call(): Promise<void>; end(): void } {
  const socket = connect(path).setEncoding('utf8');
  let heard = (): void => {};
  socket.on('data', () => heard());
  const call = (): Promise<void> =>
    new Promise((resolve) => {
      heard = resolve;
      socket.write(LINE);
    });
  return { call, end: () => socket.destroy() };
}

/** Reads what tells this process and this start of the machine from others. */
function readNames(): void {
  for (const file of ['sys/kernel/random/boot_id', `${process.pid}/stat`, 'sys/kernel/random/uuid'])
    readFileSync(`/proc/${file}`, 'utf8');
}

/** Listens at a socket of this process in the folder. */
function listenIn(folder: string): void {
  const draft = `${folder}/t.${process.pid}`;
  createServer().listen({ path: draft, exclusive: true });
  renameSync(draft, `${folder}/m.${process.pid}`);
}

let mutex: Mutex;
let held: Held & { unlock(): Promise<void> };

const steps: Steps = {
  async join(place) {
    const started = performance.now();
    let space: Space;
    if ('directory' in place) space = await Space.local(place);
    else {
      const client = new Redis({ path: place.socket, lazyConnect: true });
      client.on('error', () => {});
      space = await Space.connect(client);
    }
    const took = (performance.now() - started) * 1000;
    mutex = await space.mutex('m', { bypass: 0 });
    return [took];
  },
  async pairs(count) {
    const times: number[] = [];
    for (let at = 0; at < count; at++) {
      const from = micros();
      await (await mutex.holdAsync()).unlock();
      times.push(micros() - from);
    }
    return times;
  },
  async pairsWithoutWaiting(count) {
    const times: number[] = [];
    for (let at = 0; at < count; at++) {
      const from = micros();
      using _ = await mutex.holdAsync();
      times.push(micros() - from);
    }
    return times;
  },
  async files(file, count) {
    writeFileSync(file, '');
    const times: number[] = [];
    for (let at = 0; at < count; at++) {
      const from = micros();
      await (await lockfile.lock(file))();
      times.push(micros() - from);
    }
    return times;
  },
  async echo(path) {
    const server = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(path);
    await once(server, 'listening');
    return [];
  },
  async lines(path, count) {
    const started = micros();
    const { call, end } = caller(path);
    await call();
    const times = [micros() - started];
    for (let at = 0; at < count; at++) {
      const from = micros();
      await call();
      await call();
      times.push(micros() - from);
    }
    end();
    return times;
  },
  async bareFirst(folder) {
    const started = micros();
    lstatSync(folder);
    mkdirSync(`${folder}/start`);
    const space = `${folder}/start/space`;
    mkdirSync(space);
    readNames();
    readdirSync(space);
    listenIn(space);
    createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen({ path: `${space}/b`, exclusive: true });
    writeFileSync(`${space}/t`, LINE);
    openSync(`${space}/t`, 'r');
    linkSync(`${space}/t`, `${space}/gen`);
    unlinkSync(`${space}/t`);
    readdirSync(space);
    writeFileSync(`${space}/t`, LINE);
    renameSync(`${space}/t`, `${space}/j`);
    readdirSync(space);
    return [micros() - started];
  },
  async bareOther(folder) {
    const started = micros();
    const space = `${folder}/start/space`;
    for (const each of [folder, `${folder}/start`, space]) lstatSync(each);
    readNames();
    readdirSync(space);
    readdirSync(folder);
    readFileSync(`${space}/gen`, 'utf8');
    const { call, end } = caller(`${space}/b`);
    const answered = call();
    listenIn(space);
    await answered;
    const took = micros() - started;
    end();
    return [took];
  },
  async load(names) {
    const require = createRequire(createRequire(import.meta.url).resolve('taketurns-processes'));
    const started = micros();
    for (const name of names) require(`./${name}.cjs`);
    return [micros() - started];
  },
  async turns(ms) {
    const times: number[] = [];
    for (const end = micros() + ms * 1000; micros() < end; ) {
      const from = micros();
      const guard = await mutex.holdAsync();
      times.push(micros() - from);
      await guard.unlock();
    }
    return times;
  },
  async relay(path) {
    const waiting: Socket[] = [];
    let holder: Socket | undefined;
    const next = (): void => {
      holder = waiting.shift();
      holder?.write(LINE);
    };
    const server = createServer((socket) => {
      socket.on('error', () => {});
      // Each caller waits for an answer before it sends more, so what comes is one line.
      socket.on('data', () => {
        if (socket === holder) {
          next();
          socket.write(LINE);
        } else {
          waiting.push(socket);
          if (!holder) next();
        }
      });
    }).listen(path);
    await once(server, 'listening');
    return [];
  },
  async bareTurns(path, ms) {
    const { call, end } = caller(path);
    const times: number[] = [];
    for (const until = micros() + ms * 1000; micros() < until; ) {
      const from = micros();
      await call();
      times.push(micros() - from);
      await call();
    }
    end();
    return times;
  },
  switches: async () => [process.resourceUsage().voluntaryContextSwitches],
  async crowd(requests, ms) {
    const end = micros() + ms * 1000;
    let turns = 0;
    const loop = async (): Promise<void> => {
      while (micros() < end) {
        const guard = await mutex.holdAsync();
        turns++;
        await guard.unlock();
      }
    };
    await Promise.all(Array.from({ length: requests }, loop));
    return [turns];
  },
  async hold() {
    held = await mutex.holdAsync();
    return [];
  },
  async next() {
    held = await mutex.holdAsync();
    return [micros()];
  },
  async unlock() {
    await held.unlock();
    return [];
  },
  memory: async () => [process.memoryUsage.rss()],
};

process.on('message', ([id, step, ...args]: [number, keyof Steps, ...never[]]) => {
  (steps[step] as (...args: never[]) => Promise<number[]>)(...args).then(
    (answer) => process.send?.([id, answer]),
    (error) => process.send?.([id, undefined, `${error}`]),
  );
});
process.on('disconnect', () => process.exit());
