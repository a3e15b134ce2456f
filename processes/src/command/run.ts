/**
 * Runs a command when its turn comes.
 *
 *     waiting --> held --> the command runs --> given back, exit with its status
 *        |                    | the turn is lost: the command is ended (guard.ts), exit 70
 *        +-- 75: --try, --timeout
 *
 * This program may be killed while its command runs. Without a server, the turn then lasts until the command has ended
 * too, as with flock(1): the command inherits the socket by which the broker sees that this process lives
 * (local/driver.ts), unless it closes the socket, as sudo does. With a server the turn ends with the lease, and a
 * guardian ends the command before (guardian.ts).
 */
import { spawn } from 'node:child_process';
import { constants, hostname } from 'node:os';
import { TimeoutError } from '../errors.js';
import type { HeldLock, HeldPermits } from '../objects/hold.js';
import { Mutex } from '../objects/mutex.js';
import type { Semaphore } from '../objects/semaphore.js';
import { proofOfLife, type Space, tellRenewals } from '../space/space.js';
import { type Given, numberOf, UsageError } from './arguments.js';
import { Guard } from './guard.js';
import { find, joinSpace, openAs } from './join.js';
import { relay } from './relay.js';

export const BUSY = 75;
const LOST = 70;
const CANNOT_RUN = 126;
const NOT_FOUND = 127;

/** The most seconds that a timer can wait. */
const MOST_SECONDS = 2_147_483;
const MOST_PERMITS = 2 ** 31 - 1;

/** Shells let scripts use the descriptors below this number as they like. */
const FREE_FOR_SCRIPTS = 10;

/** Opens the mutex or the semaphore of this name: as it is, or makes it. */
async function open(space: Space, name: string, permits: number | undefined): Promise<Mutex | Semaphore> {
  try {
    return await (permits === undefined ? space.mutex(name) : space.semaphore(name, permits));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // It exists with other settings, which need not be those of a command.
    const found = await find(space, name);
    const fits = found?.kind === 'mutex' ? permits === undefined : (permits ?? found?.max) === found?.max;
    if (!found || found.kind === 'rwlock' || !fits) throw error;
    return (await openAs(space, found)) as Mutex | Semaphore;
  }
}

export async function run(given: Given): Promise<number> {
  const { values, switches, words, behind } = given;
  const { name } = values;
  const isInteger = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MOST_PERMITS;
  const permits = numberOf(given, 'permits', `an integer from 1 to ${MOST_PERMITS}`, isInteger);
  const most = `a number of seconds from 0 to ${MOST_SECONDS}`;
  const seconds = numberOf(given, 'timeout', most, (value) => value <= MOST_SECONDS);
  if (name === undefined) throw new UsageError('run: --name NAME is needed');
  if (words.length > 0) throw new UsageError(`run: what is to run stands behind --, got ${JSON.stringify(words[0])}`);
  const [program, ...others] = behind ?? [];
  if (program === undefined) throw new UsageError('run: a command is needed: run --name NAME -- COMMAND');
  if (switches.has('try') && seconds !== undefined)
    throw new UsageError('run: --try does not wait, so it has no --timeout');

  const { space, lease } = await joinSpace(given, values.label ?? labelOf(program));
  try {
    const handle = await open(space, name, permits);
    const held = await take(handle, switches.has('try'), seconds);
    return held ? await runHeld(space, held, program, others, lease) : BUSY;
  } finally {
    await space.close();
  }
}

/**
 * The name of the program, without its folder, and the process. A label has at most 100 bytes, and a host name may have
 * 253.
 */
const labelOf = (program: string): string =>
  `${program
    .replace(/^.*[/\\]/, '')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 40)} (pid ${process.pid} on ${hostname().slice(0, 40)})`;

async function take(
  handle: Mutex | Semaphore,
  tries: boolean,
  seconds: number | undefined,
): Promise<HeldLock | HeldPermits | undefined> {
  if (tries) return handle.tryHold();
  const options = seconds === undefined ? {} : { timeout: seconds * 1000 };
  try {
    return await (handle instanceof Mutex ? handle.holdAsync(options) : handle.holdAsync(1, options));
  } catch (error) {
    if (error instanceof TimeoutError) return undefined;
    throw error;
  }
}

/** Runs the command while this process holds. Resolves to the exit status. */
function runHeld(
  space: Space,
  held: HeldLock | HeldPermits,
  program: string,
  others: readonly string[],
  lease: number | undefined,
): Promise<number> {
  const env: NodeJS.ProcessEnv = { ...process.env, TAKETURNS_TOKEN: `${held.token}` };
  // It may be there from a command that runs this one.
  delete env.TAKETURNS_OWNER_DIED;
  if (held.ownerDied) env.TAKETURNS_OWNER_DIED = '1';
  const socket = space[proofOfLife]();
  const { signal } = held;
  return new Promise((resolve) => {
    const stdio: ('inherit' | 'ignore' | number)[] = ['inherit', 'inherit', 'inherit'];
    if (socket !== undefined) {
      // The socket keeps its number, or gets a larger one. So `exec 3>&1` in a script does not close it.
      while (stdio.length < Math.max(socket, FREE_FOR_SCRIPTS)) stdio.push('ignore');
      stdio.push(socket);
    }
    const guard = new Guard(lease, (why) => {
      console.error(`taketurns-processes: if this program is killed, the command runs on: no guardian: ${why}`);
    });
    // A signal that comes as soon as the command runs must find its listener. It is heard when `child` is there.
    const endRelay = relay((name) => child.kill(name));
    const child = spawn(program, others, { env, stdio });
    if (child.pid !== undefined) guard.watch(child.pid);
    space[tellRenewals](held, (left) => guard.renewed(left));
    let ending: Promise<void> | undefined;
    const lost = (): void => {
      console.error(`taketurns-processes: the command is ended: ${(signal.reason as Error).message}`);
      ending = guard.end();
    };
    const over = async (status: number): Promise<void> => {
      signal.removeEventListener('abort', lost);
      endRelay();
      // What the command has started may need its time to end.
      await ending;
      guard.over();
      resolve(ending ? LOST : status);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) {
        // The command is of another user, as with sudo. It runs on, and so does its turn.
        console.error(`taketurns-processes: ${program}: it cannot be signalled: ${error.message}`);
        return;
      }
      const isMissing = error.code === 'ENOENT';
      console.error(`taketurns-processes: ${program}: ${isMissing ? 'there is no such program' : error.message}`);
      void over(isMissing ? NOT_FOUND : CANNOT_RUN);
    });
    child.on('exit', (status, name) => void over(status ?? 128 + (name ? constants.signals[name] : 0)));
    if (signal.aborted) lost();
    else signal.addEventListener('abort', lost);
  });
}
