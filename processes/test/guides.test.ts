/** The rows of docs/from-*.md: each is a program of the other package or command, and one of this package. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redlock } from '@sesamecare-oss/redlock';
import { check, type LockOptions, lock as lockFile, lockSync, unlockSync } from 'proper-lockfile';
import { MultiSemaphore, Mutex, RedlockMutex, Semaphore } from 'redis-semaphore';
import { describe, onTestFinished } from 'vitest';
import { guide, mostAtOnce, outcome, pause, type Rows, waits } from '../../test/guides/rows.js';
import { Space } from '../src/space/space.js';
import { cli, jobs, start, waitingFor } from './commands.js';
import { folder } from './local-processes.js';
import { onServers, until } from './setting.js';

/** A new space without a server, which closes at the end of the test. */
async function local(): Promise<Space> {
  const space = await Space.local({ directory: folder() });
  onTestFinished(() => space.close());
  return space;
}

/** A file that can be locked. */
function file(): string {
  const name = join(folder(), 'file');
  writeFileSync(name, '');
  return name;
}

/** Without the option, a lock whose folder goes at the end of the test would throw from a timer. */
const lock = (name: string, options: LockOptions = {}) => lockFile(name, { onCompromised: () => {}, ...options });

describe('proper-lockfile', () => {
  guide('from-proper-lockfile.md', {
    "`const release = await lock('some/file')`": [
      async () => {
        const name = file();
        const release = await lock(name);
        const locked = await check(name);
        await release();
        return locked;
      },
      async () => {
        const held = await (await (await local()).mutex('some/file')).holdAsync();
        return held.held;
      },
      true,
    ],
    '`await release()`': [
      async () => {
        const name = file();
        await (await lock(name))();
        return check(name);
      },
      async () => {
        const mutex = await (await local()).mutex('some/file');
        await (await mutex.holdAsync()).unlock();
        return (await mutex.inspect())?.free === 0;
      },
      false,
    ],
    '`lock(file, { retries: 10 })`, `retries: { minTimeout, maxTimeout, factor }`': [
      async () => {
        const name = file();
        const release = await lock(name);
        const late = lock(name, { retries: { retries: 50, minTimeout: 5, maxTimeout: 5, factor: 1 } });
        await pause(10);
        await release();
        await (await late)();
        await lock(name);
        return outcome(() => lock(name, { retries: { retries: 2, minTimeout: 1 } })).then((end) =>
          `${end}`.slice(0, 7),
        );
      },
      async () => {
        const mutex = await (await local()).mutex('some/file');
        const held = await mutex.holdAsync();
        const late = mutex.holdAsync({ timeout: 5000 });
        await held.unlock();
        await late;
        return outcome(() => mutex.holdAsync({ timeout: 5 })).then((end) => `${end}`.slice(0, 7));
      },
      'refused',
    ],
    '`lock(file)`, which fails at once if the file is locked (`ELOCKED`)': [
      async () => {
        const name = file();
        await lock(name);
        return lock(name).catch((error: NodeJS.ErrnoException) => error.code === 'ELOCKED');
      },
      async () => {
        const mutex = await (await local()).mutex('some/file');
        await mutex.holdAsync();
        return (await mutex.tryHold()) === undefined;
      },
      true,
    ],
    '`check(file)`': [
      async () => {
        const name = file();
        const before = await check(name);
        await lock(name);
        return [before, await check(name)];
      },
      async () => {
        const mutex = await (await local()).mutex('some/file');
        const before = (await mutex.inspect())?.free === 0;
        await mutex.holdAsync();
        mutex.holdAsync().catch(() => {});
        await until(async () => (await mutex.inspect())?.waiting === 1);
        const state = await mutex.inspect();
        return [before, state?.free === 0 && state.holders.length === 1 && state.queue.length === 1];
      },
      [false, true],
    ],
    '`stale`, `update`': null,
    '`onCompromised`': [
      async () => {
        const name = file();
        const compromised = new Promise((told) => {
          lock(name, { stale: 2000, update: 1000, onCompromised: () => told('told') }).then(() =>
            rmSync(`${name}.lock`, { recursive: true }),
          );
        });
        return compromised;
      },
      async () => {
        const mutex = await (await local()).mutex('some/file');
        const held = await mutex.holdAsync();
        const aborted = once(held.signal, 'abort');
        await mutex.revoke(held.proof);
        await aborted;
        return 'told';
      },
      'told',
    ],
    '`lockSync`, `unlockSync`': [
      () => {
        const name = file();
        lockSync(name);
        unlockSync(name);
        return 0;
      },
      async () => (await jobs().run('--', 'true').ended).status,
      0,
    ],
    'the lock lies beside the file, so another machine that shares the folder (NFS) sees the lock': [
      async () => {
        const name = file();
        await lock(name);
        return existsSync(`${name}.lock`);
      },
      async () => {
        const name = file();
        await (await (await local()).mutex(name)).holdAsync();
        return existsSync(`${name}.lock`);
      },
      true,
      false,
    ],
  });
});

/** Where there is `flock`, both programs; else ours alone. */
const has = spawnSync('flock', ['--version']).status === 0;
const both = (theirs: () => unknown, ours: () => unknown, answer: unknown, oursIs = answer): Rows[string] =>
  has ? [theirs, ours, answer, oursIs] : [ours, oursIs];
const flock = (...line: string[]): number | null => spawnSync('flock', line).status;

/** Runs something while a command has the lock of the file, which is the first word for `flock`. */
async function whileLocked<T>(run: (file: string) => T | Promise<T>): Promise<T> {
  const name = file();
  const holder = spawn('flock', [name, 'sh', '-c', `echo; exec sleep 60`], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    holder.kill();
  });
  await once(holder.stdout, 'data');
  return run(name);
}

/** The same for the command `job`. */
async function whileBusy<T>(run: (all: ReturnType<typeof jobs>) => T | Promise<T>): Promise<T> {
  const all = jobs();
  const holder = all.job('holder');
  await until(() => all.hasBegun('holder'));
  try {
    return await run(all);
  } finally {
    all.end('holder');
    await holder.ended;
  }
}

onServers(
  'flock',
  (setting) => {
    guide('from-flock.md', {
      '`flock /tmp/deploy.lock ./deploy.sh`': both(
        () => flock(file(), 'sh', '-c', 'exit 3'),
        async () => (await jobs().run('--', 'sh', '-c', 'exit 3').ended).status,
        3,
      ),
      '`flock -n FILE …`': both(
        () => whileLocked((name) => flock('-n', name, 'true') !== 0),
        () => whileBusy(async ({ run }) => (await run('--try', '--', 'true').ended).status !== 0),
        true,
      ),
      '`flock -w 60 FILE …`': both(
        () => whileLocked((name) => flock('-w', '0.1', name, 'true') !== 0),
        () => whileBusy(async ({ run }) => (await run('--timeout', '0.1', '--', 'true').ended).status !== 0),
        true,
      ),
      'exit status 1 if the lock was not free (`-E` sets another one)': both(
        () => whileLocked((name) => [flock('-n', name, 'true'), flock('-n', '-E', '9', name, 'true')]),
        () => whileBusy(async ({ run }) => (await run('--try', '--', 'true').ended).status),
        [1, 9],
        75,
      ),
      '`flock -s` (shared)': null,
      "`flock -c 'a; b'`": both(
        () => flock(file(), '-c', 'true; exit 4'),
        async () => (await jobs().run('--', 'sh', '-c', 'true; exit 4').ended).status,
        4,
      ),
      '`flock FD` in a script': null,
      'one command at a time': both(
        () => whileLocked((name) => flock('-n', name, 'true')),
        async () => {
          const { run } = jobs();
          // Each waits until three are there.
          const script = `echo > $0/$$; while [ $(ls $0 | wc -l) -lt 3 ]; do sleep 0.02; done`;
          const at = folder();
          const three = [1, 2, 3].map(() => run('--permits', '3', '--', 'sh', '-c', script, at).ended);
          return (await Promise.all(three)).map(({ status }) => status);
        },
        1,
        [0, 0, 0],
      ),
      'no tokens': both(
        () => spawnSync('flock', [file(), 'sh', '-c', 'echo $TAKETURNS_TOKEN'], { encoding: 'utf8' }).stdout.trim(),
        async () => Number((await jobs().run('--', 'sh', '-c', 'echo $TAKETURNS_TOKEN').ended).stdout) > 0,
        '',
        true,
      ),
      'one machine': both(
        () => flock(file(), 'true'),
        async () => (await start('run', '--name', 'x', '--url', setting.server.url, '--', 'true').ended).status,
        0,
      ),
      '`lslocks`': both(
        () =>
          whileLocked(() => spawnSync('lslocks', ['-n', '-o', 'TYPE'], { encoding: 'utf8' }).stdout.includes('FLOCK')),
        () =>
          whileBusy(async ({ run, looker, directory }) => {
            const space = await looker();
            const waiting = run('--', 'true');
            await until(async () => (await waitingFor(space)) === 1);
            const { stdout } = await cli('show', '--once', '--directory', directory);
            waiting.child.kill();
            return /job/.test(stdout) && /wait/.test(stdout);
          }),
        true,
      ),
    });
  },
  'first',
);

/** Locks of redis-semaphore, which renew their leases until the end of the test at most. */
function ended<L extends { stopRefresh(): void }>(lock: L): L {
  onTestFinished(() => lock.stopRefresh());
  return lock;
}
const theirMutex = (...by: ConstructorParameters<typeof Mutex>) => ended(new Mutex(...by));
const theirSemaphore = (...by: ConstructorParameters<typeof Semaphore>) => ended(new Semaphore(...by));
const theirMultiSemaphore = (...by: ConstructorParameters<typeof MultiSemaphore>) => ended(new MultiSemaphore(...by));
const theirRedlockMutex = (...by: ConstructorParameters<typeof RedlockMutex>) => ended(new RedlockMutex(...by));

onServers(
  'redis-semaphore',
  (setting) => {
    let count = 0;
    const key = (): string => `key ${++count}`;
    const ours = () => setting.join();
    const quick = { acquireTimeout: 20, retryInterval: 5 };
    guide('from-redis-semaphore.md', {
      "`new Mutex(client, 'key', options)`": [
        async () => {
          const [client, name] = [setting.another(), key()];
          return mostAtOnce(
            (f) => async (n) => {
              const mutex = theirMutex(client, name, { retryInterval: 1 });
              await mutex.acquire();
              await f(n);
              await mutex.release();
            },
            3,
          );
        },
        async () => {
          const mutex = await (await ours()).mutex('key');
          return mostAtOnce((f) => (n) => mutex.runExclusive(() => f(n)), 3);
        },
        1,
      ],
      "`new Semaphore(client, 'key', 5)`": [
        async () => {
          const [client, name] = [setting.another(), key()];
          const all = [1, 2, 3].map(() => theirSemaphore(client, name, 2, quick).tryAcquire());
          return (await Promise.all(all)).filter(Boolean).length;
        },
        async () => {
          const semaphore = await (await ours()).semaphore('key', 2);
          const all = [1, 2, 3].map(() => semaphore.tryHold());
          return (await Promise.all(all)).filter(Boolean).length;
        },
        2,
      ],
      "`new MultiSemaphore(client, 'key', 5, 2)`": [
        async () => {
          const [client, name] = [setting.another(), key()];
          const two = () => theirMultiSemaphore(client, name, 5, 2, quick);
          return [await two().tryAcquire(), await two().tryAcquire(), await two().tryAcquire()];
        },
        async () => {
          const semaphore = await (await ours()).semaphore('key', 5);
          await semaphore.holdAsync(2);
          return [true, (await semaphore.tryHold(2)) !== undefined, (await semaphore.tryHold(2)) !== undefined];
        },
        [true, true, false],
      ],
      '`await mutex.acquire()` … `await mutex.release()`': [
        async () => {
          const mutex = theirMutex(setting.another(), key());
          await mutex.acquire();
          await mutex.release();
          return mutex.isAcquired;
        },
        async () => {
          const mutex = await (await ours()).mutex('key');
          const held = await mutex.holdAsync();
          await held.unlock();
          return held.held;
        },
        false,
      ],
      '`await semaphore.release()`': [
        async () => {
          const [client, name] = [setting.another(), key()];
          const semaphore = theirSemaphore(client, name, 1);
          await semaphore.acquire();
          await semaphore.release();
          return theirSemaphore(client, name, 1).tryAcquire();
        },
        async () => {
          const semaphore = await (await ours()).semaphore('key', 1);
          const held = await semaphore.holdAsync();
          await held.release();
          return (await semaphore.tryHold()) !== undefined;
        },
        true,
      ],
      '`if (await mutex.tryAcquire())`': [
        async () => {
          const [client, name] = [setting.another(), key()];
          return [await theirMutex(client, name).tryAcquire(), await theirMutex(client, name, quick).tryAcquire()];
        },
        async () => {
          const mutex = await (await ours()).mutex('key');
          const held = await mutex.tryHold();
          return [held !== undefined, (await mutex.tryHold()) !== undefined];
        },
        [true, false],
      ],
      '`mutex.isAcquired`': [
        async () => {
          const mutex = theirMutex(setting.another(), key());
          await mutex.acquire();
          return mutex.isAcquired;
        },
        async () => (await (await (await ours()).mutex('key')).holdAsync()).held,
        true,
      ],
      '`acquireTimeout: 10_000`': [
        async () => {
          const [client, name] = [setting.another(), key()];
          await theirMutex(client, name).acquire();
          return outcome(() => theirMutex(client, name, quick).acquire()).then((end) => `${end}`.slice(0, 7));
        },
        async () => {
          const mutex = await (await ours()).mutex('key');
          await mutex.holdAsync();
          const forever = await waits(mutex.holdAsync());
          const end = await outcome(() => mutex.holdAsync({ timeout: 20 }));
          return forever === 'waits' && `${end}`.slice(0, 7);
        },
        'refused',
      ],
      '`acquireAttemptsLimit: 1`': [
        async () => {
          const [client, name] = [setting.another(), key()];
          await theirMutex(client, name).acquire();
          return theirMutex(client, name, { acquireAttemptsLimit: 1 }).tryAcquire();
        },
        async () => {
          const mutex = await (await ours()).mutex('key');
          await mutex.holdAsync();
          return (await mutex.tryHold()) !== undefined;
        },
        false,
      ],
      '`retryInterval`': null,
      '`lockTimeout`, `refreshInterval`': [
        async () => {
          const [client, name] = [setting.another(), key()];
          const mutex = theirMutex(client, name, { lockTimeout: 300, refreshInterval: 100 });
          await mutex.acquire();
          await pause(500);
          return mutex.isAcquired && !(await theirMutex(client, name, quick).tryAcquire());
        },
        async () => {
          const space = await setting.join({ lease: 500 });
          const [mutex, semaphore] = [await space.mutex('key'), await space.semaphore('other', 1)];
          const held = [await mutex.holdAsync(), await semaphore.holdAsync()];
          await pause(700);
          return held.every((guard) => guard.held) && (await mutex.tryHold()) === undefined;
        },
        true,
      ],
      '`onLockLost(error)`': [
        async () => {
          const [client, name] = [setting.another(), key()];
          return new Promise((told) => {
            const onLockLost = () => told('told');
            const mutex = theirMutex(client, name, { lockTimeout: 200, refreshInterval: 50, onLockLost });
            mutex.acquire().then(() => client.flushall());
          });
        },
        async () => {
          const space = await ours();
          const mutex = await space.mutex('key');
          const held = await mutex.holdAsync();
          const both = Promise.all([
            once(held.signal, 'abort'),
            new Promise<void>((told) => space.on('lost', () => told())),
          ]);
          await mutex.revoke(held.proof);
          await both;
          return 'told';
        },
        'told',
      ],
      '`identifier`, `acquiredExternally`': [
        async () => {
          const [client, name] = [setting.another(), key()];
          await theirMutex(client, name, { identifier: 'mine' }).acquire();
          return theirMutex(client, name, { identifier: 'mine', acquiredExternally: true }).tryAcquire();
        },
        async () => {
          const [one, two] = [await ours(), await ours()];
          const { proof } = await (await one.mutex('key')).holdAsync();
          return (await two.mutex('key')).validate(proof);
        },
        true,
      ],
      '`RedlockMutex`, `RedlockSemaphore` of several servers': [
        async () => {
          const mutex = theirRedlockMutex([setting.another()], key());
          await mutex.acquire();
          const { isAcquired } = mutex;
          await mutex.release();
          return isAcquired;
        },
        async () => (await (await (await ours()).mutex('key')).holdAsync()).token > 0n,
        true,
      ],
    });
  },
  'first',
);

onServers(
  'redlock',
  (setting) => {
    let count = 0;
    const key = (): string => `redlock ${++count}`;
    const redlock = (settings = {}) => new Redlock([setting.another()], { retryCount: 0, ...settings });
    guide('from-redlock.md', {
      '`new Redlock([a, b, c])`': [
        async () => {
          const lock = await new Redlock([setting.another()]).acquire([key()], 5000);
          await lock.release();
          return lock.resources.length;
        },
        async () => {
          const space = await Space.connect(setting.another(), { space: key() });
          const held = await (await space.mutex('key')).holdAsync();
          await space.close();
          return held ? 1 : 0;
        },
        1,
      ],
      "`redlock.using(['key'], 5000, async (signal) => …)`": [
        () => redlock().using([key()], 5000, async (signal) => signal.aborted),
        async () => {
          const mutex = await (await setting.join()).mutex('key');
          return mutex.runExclusive(async ({ signal, token }) => token > 0n && signal.aborted);
        },
        false,
      ],
      "`const lock = await redlock.acquire(['key'], 5000)`": [
        async () => {
          const name = key();
          await redlock().acquire([name], 5000);
          return outcome(() => redlock().acquire([name], 5000)).then((end) => `${end}`.slice(0, 7));
        },
        async () => {
          const space = await setting.join();
          await (await space.mutex('key')).holdAsync();
          return outcome(async () => (await space.mutex('key')).holdAsync({ timeout: 5 })).then((end) =>
            `${end}`.slice(0, 7),
          );
        },
        'refused',
      ],
      '`await lock.release()`': [
        async () => {
          const name = key();
          await (await redlock().acquire([name], 5000)).release();
          return (await redlock().acquire([name], 5000)).resources.length === 1;
        },
        async () => {
          const mutex = await (await setting.join()).mutex('key');
          await (await mutex.holdAsync()).unlock();
          return (await mutex.tryHold())?.held;
        },
        true,
      ],
      '`await lock.extend(5000)`, `automaticExtensionThreshold`': [
        async () => {
          const name = key();
          const lock = await redlock().acquire([name], 300);
          await lock.extend(5000);
          await pause(400);
          return outcome(() => redlock().acquire([name], 5000)).then((end) => `${end}`.slice(0, 7));
        },
        async () => {
          const mutex = await (await setting.join({ lease: 500 })).mutex('key');
          await mutex.holdAsync();
          await pause(700);
          return outcome(() => mutex.holdAsync({ timeout: 5 })).then((end) => `${end}`.slice(0, 7));
        },
        'refused',
      ],
      'the duration of a lock': [
        async () => {
          const name = key();
          await redlock().acquire([name], 100);
          await pause(200);
          return (await redlock().acquire([name], 5000)).resources.length === 1;
        },
        async () => {
          const [one, two] = [await setting.join({ lease: 500 }), await setting.join({ lease: 500 })];
          await (await one.mutex('key')).holdAsync();
          const next = (await two.mutex('key')).holdAsync();
          const work = await outcome(() => once(new EventTarget(), 'never', { signal: AbortSignal.timeout(20) }));
          await one.close(); // as if the process had died
          return work === 'refused: AbortError' && (await next).held;
        },
        true,
      ],
      '`retryCount`, `retryDelay`, `retryJitter`': [
        async () => {
          const name = key();
          const lock = await redlock().acquire([name], 5000);
          const late = redlock({ retryCount: 100, retryDelay: 5, retryJitter: 1 }).acquire([name], 5000);
          await lock.release();
          return (await late).resources.length === 1;
        },
        async () => {
          const mutex = await (await setting.join()).mutex('key');
          const held = await mutex.holdAsync();
          const late = mutex.holdAsync({ timeout: 5000 });
          await held.unlock();
          return (await late).held;
        },
        true,
      ],
      '`signal.aborted`, `signal.error`': [
        async () => {
          const [name, client] = [key(), setting.another()];
          const extending = redlock({ automaticExtensionThreshold: 100 });
          let lost: unknown;
          const end = await outcome(() =>
            extending.using([name], 200, async (signal) => {
              await client.del(name);
              await until(() => signal.aborted);
              lost = signal.error instanceof Error;
            }),
          );
          return `${end}`.startsWith('refused') && lost;
        },
        async () => {
          const mutex = await (await setting.join()).mutex('key');
          const held = await mutex.holdAsync();
          await mutex.revoke(held.proof);
          await until(() => held.signal.aborted);
          return (held.signal.reason as Error).name;
        },
        true,
        'LeaseLostError',
      ],
      '`ExecutionError`, `ResourceLockedError`': [
        async () => {
          const name = key();
          await redlock().acquire([name], 5000);
          return outcome(() => redlock().acquire([name], 5000));
        },
        async () => {
          const mutex = await (await setting.join()).mutex('key');
          await mutex.holdAsync();
          return outcome(() => mutex.holdAsync({ timeout: 5 }));
        },
        'refused: ExecutionError',
        'refused: TimeoutError',
      ],
      'several keys in one lock': [
        async () => (await redlock().acquire([key(), key()], 5000)).resources.length,
        async () => {
          const space = await setting.join();
          const [a, b] = [await space.mutex('a'), await space.mutex('b')];
          const both = await space.holdAll([a, b]);
          const held = [await a.tryHold(), await b.tryHold()];
          await both.release();
          await (await space.holdAll([b, a])).release();
          return held.filter((guard) => guard === undefined).length;
        },
        2,
      ],
      "`redlock.on('error')`": [
        async () => {
          const name = key();
          await redlock().acquire([name], 5000);
          const other = redlock();
          const told = once(other, 'error').catch((error: Error) => [error]);
          await outcome(() => other.acquire([name], 5000));
          return (await told)[0] instanceof Error;
        },
        async () => {
          const client = setting.another();
          client.options.retryStrategy = () => null;
          const space = await Space.connect(client, { space: key() });
          onTestFinished(() => space.close());
          const told = new Promise((tell) => space.on('error', tell));
          await setting.another().call('CLIENT', 'KILL', 'TYPE', 'normal');
          return (await told) instanceof Error;
        },
        true,
      ],
    });
  },
  'first',
);
