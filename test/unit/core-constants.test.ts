/** What the build promises: numbers agree, bundles and layouts keep their sizes, and nothing is needed at run time. */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { Arena, Semaphore } from 'taketurns';
import { startMetrics } from 'taketurns/metrics';
import { describe, expect, it } from 'vitest';
import { readWords, wordsOfClasses } from '../../scripts/words.mjs';
import { decode } from '../../src/runtime/decode.js';
import { mark } from '../../src/runtime/embedded.js';
import { membershipOf } from '../support/membership.js';
import { at, layout } from '../support/memory.js';

const require = createRequire(import.meta.url);
const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

describe('the words of the core', () => {
  const words = readWords(fileURLToPath(root));
  /** The words with the comment or the place of one of them changed. */
  const changed = (name: string, change: object) => new Map(words).set(name, { ...words.get(name), ...change });
  const sorted = (all: typeof words) => wordsOfClasses(fileURLToPath(root), all);

  it('are found, all of them', () => {
    expect(words.size).toBeGreaterThan(240);
    expect(layout).toEqual(Object.fromEntries([...words].map(([name, { value }]) => [name, value])));
    expect(at('M_OVERTAKING')).toBe(2 ** 35);
  });

  it('must not overlap in one class of objects', () => {
    expect(() => sorted(changed('M_HEAD', { value: at('M_LIMIT') }))).toThrow('M_LIMIT');
    expect(() => sorted(changed('O_DRAIN', { value: at('O_PHASE') + 4 }))).toThrow('RwLock: O_PHASE');
    expect(() => sorted(changed('O_MOST', { instead: undefined }))).toThrow('overlap');
  });

  it('must not overlap in a new kind, whatever their names are', () => {
    const file = 'core/kinds/queued-latch/words.ts';
    const kind = { ...words.get('KIND_LATCH'), name: 'KIND_QUEUED_LATCH', says: 'queued-latch/' };
    const count = { ...words.get('M_PACE'), name: 'L_COUNT', file, value: at('O_MAX') };
    const all = new Map(words).set('KIND_QUEUED_LATCH', kind as never).set('L_COUNT', count as never);
    expect(() => sorted(all)).toThrow('QueuedLatch: L_COUNT');
  });

  it('must be set in a new object, or say that they are not', () => {
    expect(() => sorted(changed('M_HEAD', { says: 'the head that sleeps' }))).toThrow(
      'buildObject does not set byte 52',
    );
  });

  it('must say how wide they are', () => {
    expect(() => sorted(changed('M_PACE', { bytes: Number.NaN }))).toThrow('says neither i32 nor i64');
  });
});

describe('the kinds', () => {
  it('are told apart by their low bytes alone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kinds-'));
    const write = (rows: string) => {
      writeFileSync(join(folder, 'core/words.ts'), `export const KIND_NUMBER: i32 = 0xff;\n${rows}`);
      return () => readWords(`${folder}/`);
    };
    mkdirSync(join(folder, 'core'));
    const row = 'export const KIND_LATCH: i32 = 43 | 0x100;\n';
    expect(write(row)().get('KIND_LATCH')?.value).toBe(43 + 256);
    expect(write(`${row}export const KIND_TWIN: i32 = 43 | 0x200;\n`)).toThrow('KIND_LATCH and KIND_TWIN are both 43');
    rmSync(folder, { recursive: true });
  });

  it('are asked for their traits, and never compared by order', () => {
    const ordered = /[kK]ind(?:Of\([^)]*\))? (?:[<>]=? [A-Z]|& ~?\d)|[^=][<>]=? KIND_/;
    for (const folder of ['core', 'src', 'check/src', 'simulate/src'])
      for (const file of readdirSync(new URL(folder, root), { recursive: true }) as string[])
        if (file.endsWith('.ts')) expect(read(`${folder}/${file}`), `${folder}/${file}`).not.toMatch(ordered);
  });
});

describe('the layout', () => {
  it('keeps a semaphore within 128 bytes, its own cache lines included', () => {
    const arena = new Arena();
    const addresses = Array.from({ length: 10 }, () => new Semaphore(1, { arena }).handle.address);
    for (const [i, address] of addresses.entries()) {
      expect(address % at('LINE')).toBe(0);
      if (i > 0) expect(address - (addresses[i - 1] as number)).toBeLessThanOrEqual(128);
    }
    expect(at('OBJECT_SIZE')).toBeLessThanOrEqual(128);
  });

  it('keeps regions and counters apart, each on lines of its own', () => {
    const fixed = ['USED_ELEMENTS', 'USED_OBJECTS', 'USED_THREADS', 'CLOSED_OBJECT', 'NAME_HEADS'];
    const addresses = fixed.map(at);
    for (const address of addresses) expect(address % at('LINE')).toBe(0);
    expect(addresses).toEqual(addresses.toSorted((a, b) => a - b));
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(at('CLOSED_OBJECT') + at('OBJECT_SIZE')).toBeLessThanOrEqual(at('NAME_HEADS'));
    for (const size of [at('NAME_HEADS'), 8 * at('NAME_HEADS_LEAST'), 8 * at('NAME_HEADS_STEP')])
      expect(size % at('OBJECT_SIZE')).toBe(0);
    for (const size of ['OBJECT_SIZE', 'NAME_SIZE', 'THREAD_SIZE', 'ELEMENT_SIZE'])
      expect(at(size) % at('LINE')).toBe(0);
  });
});

const memory = { module: 'env', name: 'memory', kind: 'memory' };
/** The globals that a module shares with the core. */
const shared = (...names: string[]) => names.map((name) => ({ module: 'core', name, kind: 'global' }));
describe.each([
  { name: 'core', file: 'runtime/core-bytes.js', imports: [memory] },
  {
    name: 'algorithms',
    file: 'papers/algorithms/algorithms-bytes.js',
    imports: [...shared('before', 'late', 'pending', 'released', 'ticketTaken'), memory],
  },
])('the module $name', ({ name, file, imports }) => {
  const bytes = readFileSync(new URL(`build/${name}.wasm`, root));

  it('has no data segment, which every instance would write over live memory', () => {
    expect(sections(bytes)).not.toContain(11);
    expect(sections(bytes)).not.toContain(12);
  });

  it('imports its memory, and globals of the core, and nothing else', () => {
    const found = WebAssembly.Module.imports(new WebAssembly.Module(bytes));
    expect(found).toHaveLength(imports.length);
    expect(found).toEqual(expect.arrayContaining(imports));
  });

  it('is what the library embeds', () => {
    const [, embedded = ''] = read(`dist/${file}`).match(/'([^']+)'/) ?? [];
    expect(bytes.equals(decode(embedded))).toBe(true);
    // In another realm, which has no Buffer; the older runtimes also have no fromBase64.
    const code = read('dist/runtime/decode.js').replace(/^export /gm, '');
    for (const older of ['', 'delete Uint8Array.fromBase64;']) {
      const there = runInNewContext(`${older} ${code}\n decode`);
      for (const text of [embedded, 'AAEC', 'AAE=', 'AA=='])
        expect(Buffer.from(text, 'base64').equals(there(text))).toBe(true);
    }
  });
});

/** The ids of a module's sections. */
function sections(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  let i = 8;
  while (i < bytes.length) {
    ids.push(bytes[i++] as number);
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[i++] as number;
      size |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    i += size;
  }
  expect(i).toBe(bytes.length);
  expect(ids.length).toBeGreaterThan(4);
  return ids;
}

describe('the package', () => {
  const manifest = JSON.parse(read('package.json'));

  it('needs nothing at run time', () => {
    for (const key of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundledDependencies']) {
      expect(manifest[key] ?? {}).toEqual({});
    }
    for (const file of readdirSync(new URL('dist/', root), { recursive: true }) as string[]) {
      if (!file.endsWith('.js') || file.startsWith('node/')) continue;
      for (const [, from] of read(`dist/${file}`).matchAll(
        /^(?:import|export)\b.*\bfrom ['"]([^'"]+)['"]|\bimport\(/gm,
      )) {
        expect(from).toMatch(/^(\.{1,2}\/|node:|#host$)/);
      }
    }
    for (const file of readdirSync(new URL('dist/node/', root)).filter((name) => /js$/.test(name))) {
      const code = read(`dist/node/${file}`);
      for (const [, from] of code.matchAll(/(?:\brequire\(|^import\b.*\bfrom )"([^"]+)"\)?;?$/gm))
        expect(from).toMatch(/^(\.\/|node:|#host$)/);
    }
  });

  it('exports files that are there, types included', () => {
    const targets: string[] = [manifest.main, manifest.types, ...Object.values(manifest.typesVersions['*']).flat()];
    // JSON.stringify calls the function for each target, however deep it is in the conditions.
    JSON.stringify(manifest.exports, (_, target) => {
      if (typeof target === 'string') targets.push(target);
      return target;
    });
    expect(targets.length).toBeGreaterThan(30);
    for (const file of targets) expect(existsSync(new URL(file, root)), file).toBe(true);
  });

  it('gives a thread that starts no work that it can do without', () => {
    const core = Object.values(Object.getOwnPropertyDescriptors(require('../../dist/node/core.cjs')));
    expect(core.length).toBeGreaterThan(100);
    expect(core.filter(({ get }) => get)).toEqual([]);
    // An engine builds the set of characters of a property of Unicode when it reads the literal.
    for (const file of ['core', 'sync', 'channel', 'keyed', 'tasks'])
      expect(read(`dist/node/${file}.cjs`)).not.toMatch(/^[^'"`]*\/\S*\\[pP]\{/m);
  });

  it('marks the functions of a module without making a dictionary of them, however many they are', () => {
    setFlagsFromString('--allow-natives-syntax');
    const isFast: (object: object) => boolean = runInThisContext('(object) => %HasFastProperties(object)');
    for (let count = 60; count < 120; count++) {
      const functions = { ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`function${i}`, () => i])) };
      for (const name of ['watched', 'measured']) mark(functions, Symbol.for(`taketurns:${name}`), new Set());
      expect(isFast(functions), `${count} functions`).toBe(true);
    }
    const arena = new Arena();
    expect(isFast(membershipOf(arena).core)).toBe(true);
    startMetrics(arena);
    expect(isFast(membershipOf(arena).core)).toBe(true);
  });

  it('keeps private fields private', () => {
    expect(read('dist/semaphore/semaphore.js')).toMatch(/this\.#core\b/);
    expect(read('dist/semaphore/semaphore.js')).not.toContain('__classPrivateField');
  });
});

describe('the uninterruptible sections of the compiled core', () => {
  const text = readFileSync(new URL('../../build/core.wat', import.meta.url), 'utf8');
  const body = (name: string): string => {
    const start = text.indexOf(` (func $core/${name} `);
    expect(start).toBeGreaterThan(0);
    return text.slice(start, text.indexOf('\n )\n', start));
  };

  // A runtime stops a thread only at calls, at loop back-edges and at returns. None may lie between taking a ticket and recording
  // it, and these functions are quick because they call nothing.
  it.each(['queue/queue/acquire', 'queue/queue/acquireOne', 'queue/queue/release', 'queue/queue/releaseOne'])(
    '%s calls nothing and does not loop',
    (name) => {
      expect(body(name)).toContain('i64.atomic.rmw.add');
      expect(body(name)).not.toMatch(/\((call|call_indirect|loop)\b/);
    },
  );

  it('queue/runs/arrive neither calls nor loops once it has its ticket', () => {
    // For a mutex the first add counts the waiter; the second takes the ticket.
    const [, ...parts] = body('queue/runs/arrive').split('i64.atomic.rmw.add');
    const straight = parts.join();
    expect(straight).toContain('i64.atomic.store');
    expect(straight).not.toMatch(/\((call|call_indirect|loop)\b/);
  });
});

describe('the modules that share globals with the core', () => {
  // A thread makes such a module when it first needs one. An exception may have cut a call of the core short before, and
  // the globals say what that call has left.
  it.each(['algorithms', 'channel', 'sync'])('%s does not write them when a thread makes it', (name) => {
    const text = readFileSync(new URL(`../../build/${name}.wat`, import.meta.url), 'utf8');
    const shared = [...text.matchAll(/^ \(import "core" "\w+" \(global (\S+) /gm)].map(([, global]) => global);
    const start = text.indexOf(' (func $~start');
    const begins = start < 0 ? '' : text.slice(start, text.indexOf('\n )\n', start));
    expect(shared.filter((global) => begins.includes(`(global.set ${global}\n`))).toEqual([]);
  });
});
