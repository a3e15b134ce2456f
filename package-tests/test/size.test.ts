/** Checks which parts of the library the bundle of a program carries. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { bundlers, esbuildFor, type Target } from '../support/bundle.js';
import { algorithmsBytes, coreBytes } from '../support/bytes.js';

const folder = inject('folder');
/** The classes of `taketurns` whose objects threads share. */
const classes = Object.entries(
  (await import(join(folder, 'node_modules/taketurns/dist/node/index.mjs'))) as Record<string, Shared>,
).filter(([, { from }]) => from !== undefined);

interface Shared {
  readonly prototype: object;
  readonly from?: unknown;
}

function written(name: string, program: string): string {
  mkdirSync(join(folder, 'size'), { recursive: true });
  const entry = `./size/${name}.js`;
  writeFileSync(join(folder, entry), program);
  return entry;
}

async function bundle(bundler: string, name: string, program: string): Promise<string> {
  const run = bundlers[bundler] as (typeof bundlers)[string];
  return run(folder, written(name, program), join(folder, 'out', bundler, name));
}

/** Returns whether the code contains the part. A failed `toContain` would print the whole code. */
function holds(code: string, part: string): boolean {
  return code.includes(part);
}

/**
 * Returns the names of the classes that the code contains. A bundler may change the name of a class, but not those of
 * its members. So the code contains a class only if it contains the names of all members of the class.
 */
function classesIn(code: string): string[] {
  return classes
    .filter(([, { prototype }]) => Object.getOwnPropertyNames(prototype).every((member) => holds(code, member)))
    .map(([name]) => name);
}

describe.each(Object.keys(bundlers))('a bundle by %s', (bundler) => {
  it('of the semaphore holds no algorithms and no other class', async () => {
    const code = await bundle(bundler, 'semaphore', "import { Semaphore } from 'taketurns'; console.log(Semaphore);");
    expect(holds(code, coreBytes)).toBe(true);
    expect(holds(code, algorithmsBytes.slice(0, 1000))).toBe(false);
    expect(holds(code, 'twaAcquire')).toBe(false);
    expect(classesIn(code)).toEqual(['Semaphore']);
  });

  it('of taketurns/share holds what the import does, and no class', async () => {
    const code = await bundle(bundler, 'share', "import 'taketurns/share'; console.log('started');");
    expect(holds(code, coreBytes)).toBe(true);
    expect(holds(code, 'taketurns:arena:')).toBe(true);
    expect(classesIn(code)).toEqual([]);
  });

  it('of everything holds each class', async () => {
    const code = await bundle(bundler, 'all', "import * as all from 'taketurns'; globalThis.all = all;");
    expect(classesIn(code)).toEqual(classes.map(([name]) => name));
  });

  it('of an algorithm holds both modules', async () => {
    const code = await bundle(
      bundler,
      'algorithm',
      "import { TwaSemaphore } from 'taketurns/algorithms'; console.log(TwaSemaphore);",
    );
    expect(holds(code, coreBytes)).toBe(true);
    expect(holds(code, algorithmsBytes)).toBe(true);
    expect(holds(code, 'twaAcquire')).toBe(true);
  });
});

const TARGETS: readonly Target[] = ['web', 'node'];
const PROGRAMS = [
  "import { Semaphore as all } from 'taketurns';",
  "import { Mutex as all } from 'taketurns';",
  "import * as all from 'taketurns';",
  "import * as all from 'taketurns/algorithms';",
  "import * as all from 'taketurns/channel';",
  "import * as all from 'taketurns/keyed';",
  "import * as all from 'taketurns/metrics';",
  "import * as all from 'taketurns/p0514';",
  "import * as all from 'taketurns/report';",
  "import * as all from 'taketurns/sync';",
];

it.each(TARGETS)('only a bundle for Node carries the keeper: %s', async (target) => {
  for (const [i, program] of PROGRAMS.entries()) {
    const entry = written(`whole${i}`, `${program} globalThis.all = all;`);
    const code = await esbuildFor(target, folder, entry, join(folder, 'out', target, `whole${i}`));
    expect(holds(code, 'kHandle')).toBe(target === 'node');
  }
});

it.each([
  ['all classes', "import * as all from 'taketurns/tasks';"],
  ['the semaphore', "import { Semaphore as all } from 'taketurns/tasks';"],
])('%s of taketurns/tasks carry nothing of threads', async (name, program) => {
  const entry = written(`tasks ${name}`.replaceAll(' ', '-'), `${program} globalThis.all = all;`);
  const bundled = await esbuildFor('web', folder, entry, join(folder, 'out/tasks', name.replaceAll(' ', '-')));
  // Atomics.waitAsync is a timer that no test can fake (src/common/real-clock.ts), and is used in no other way.
  for (const part of ['WebAssembly', 'Atomics.wait(', 'Atomics.load', 'Worker'])
    expect(holds(bundled, part)).toBe(false);
});
