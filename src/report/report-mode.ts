/**
 * Report mode: `node --import taketurns/report app.js`, or `bun --preload taketurns/report app.js`. A thread of its own,
 * the reporter, tells of deadlocks and long waits, although the program does not ask for it. `npx taketurns-report` asks
 * it (cli.ts). Deno does not tell a program what was preloaded, so there `TAKETURNS_REPORT_AFTER` begins report mode.
 *
 *     any thread                                  reporter (reporter.ts)
 *     attaches to an arena
 *     tells the memory and the id of the arena ──► looks once a second, prints what is new
 *     has blocked for a second (long-sleeps.ts)
 *     tells its stack                          ──► adds it to what it prints
 *
 * The reporter reads memory alone, so it works while all other threads block. The main thread starts it, when the
 * package is loaded first. All other threads find in the environment data that there is one. The main thread tells it
 * something by a message to the worker, which waits until the reporter runs. All others tell it on a named channel, as
 * soon as the reporter listens there: the word `board` is then 1. (These messages pass no other thread, which may block.)
 * If the reporter has ended, the word is 2, and nobody waits for it or tells it anything.
 */
import { createRequire } from 'node:module';
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  type Transferable,
  Worker,
} from 'node:worker_threads';
import { VERSION } from '../border/numbers.js';
import { variable } from './environment.js';

/** Tells the reporter something. */
export type Tell = (message: Known | Stack) => void;

/** What the reporter gets from the main thread. */
export interface ReporterData {
  readonly board: Int32Array;
  readonly channel: string;
  /** The seconds after which it tells of a wait. */
  readonly after: number;
}

/** What the reporter gets to know of an arena. */
export interface Known {
  readonly memory: WebAssembly.Memory;
  readonly id: bigint;
}

/** The stack of a thread that has blocked for a while. */
export interface Stack {
  /** The id of the arena, and the number of the thread there. */
  readonly id: bigint;
  readonly thread: number;
  /** When it was taken: milliseconds since 1970. */
  readonly at: number;
  readonly stack: string;
}

/** The variable says after how many seconds the reporter tells of a wait. */
const VARIABLE = 'TAKETURNS_REPORT_AFTER';
/** What `board` says of the reporter. At first it starts: 0. */
const LISTENS = 1;
const ENDED = 2;
const NAME = `taketurns:report:${VERSION}`;
/** For how many milliseconds a thread waits until the reporter listens. */
const PATIENCE = 2000;
const USUAL_SECONDS = 30;
const MOST_SECONDS = 86_400;

/**
 * Whether the program was started in report mode: with this package preloaded as `taketurns/report`, or in Deno with the
 * variable.
 */
function isReportMode(): boolean {
  if ('Deno' in globalThis) return variable(VARIABLE) !== undefined;
  const options = variable('NODE_OPTIONS')?.split(/\s+/) ?? [];
  return [...process.execArgv, ...options].some((option) => /(^|[=/:])taketurns\/report$/.test(option));
}

function seconds(): number {
  const text = variable(VARIABLE) ?? `${USUAL_SECONDS}`;
  const number = Number(text);
  if (text.trim() !== '' && number > 0 && number <= MOST_SECONDS) return number;
  throw new RangeError(
    `the environment variable ${VARIABLE} must be a number of seconds above 0, at most ${MOST_SECONDS}, ` +
      `not ${JSON.stringify(text)}`,
  );
}

/** Starts the reporter. Returns undefined if the program may start no threads, or was bundled without the file. */
function start(): Tell | undefined {
  const board = new Int32Array(new SharedArrayBuffer(4));
  const data: ReporterData = { board, channel: `${NAME}:${process.pid}`, after: seconds() };
  try {
    const reporter = new Worker(createRequire(import.meta.url).resolve('./reporter.cjs'), {
      name: 'taketurns/report',
      workerData: data,
      // It gets nothing that the program preloads, and no variable of the environment.
      execArgv: [],
      env: {},
    });
    reporter.on('error', () => {});
    reporter.on('exit', () => {
      Atomics.store(board, 0, ENDED);
      Atomics.notify(board, 0);
    });
    reporter.unref();
    setEnvironmentData(NAME, board as unknown as Transferable);
    return (message) => reporter.postMessage(message);
  } catch {
    return undefined;
  }
}

/** Returns how a thread that the main thread has started tells something; undefined if there is no reporter. */
function join(): Tell | undefined {
  const board = getEnvironmentData(NAME) as unknown as Int32Array | undefined;
  if (board === undefined) return undefined;
  return (message) => {
    Atomics.wait(board, 0, 0, PATIENCE);
    if (Atomics.load(board, 0) !== LISTENS) return;
    const channel = new BroadcastChannel(`${NAME}:${process.pid}`);
    channel.postMessage(message);
    channel.close();
  };
}

/** A web worker of Deno claims in `worker_threads` to be the first thread. It inherits nothing. */
const isFirst = isMainThread && !('WorkerGlobalScope' in globalThis);

/** Undefined if the program is not in report mode. */
export const tell: Tell | undefined = isFirst ? (isReportMode() ? start() : undefined) : join();
