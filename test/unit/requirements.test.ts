/** Where the runtime lacks what the library needs, one error says what is missing and what to do. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Arena } from '../../src/index.js';
import { compile, requireSharedMemory, sharedMemory } from '../../src/runtime/requirements.js';

afterEach(() => vi.unstubAllGlobals());

const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

function message(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

describe('shared memory', () => {
  it('is there in Node', () => {
    expect(sharedMemory(1).buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it.each([
    ['a page without isolation', { crossOriginIsolated: false, isSecureContext: true }, 'not cross-origin isolated'],
    ['a page without TLS', { crossOriginIsolated: false, isSecureContext: false }, 'https or from localhost'],
  ])('is missing on %s: the error names the headers, and a way without them', (_, globals, part) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    vi.stubGlobal('SharedArrayBuffer', undefined);
    for (const run of [() => new Arena(), () => Arena.from({} as never)]) {
      const told = message(run);
      expect(told).toContain('taketurns cannot run here');
      expect(told).toContain(part);
      expect(told).toContain('Cross-Origin-Opener-Policy: same-origin');
      expect(told).toContain('Cross-Origin-Embedder-Policy: require-corp');
      expect(told).toContain('docs/guides/hosts-without-headers.md');
    }
  });

  it('is missing elsewhere: the error names no headers', () => {
    vi.stubGlobal('SharedArrayBuffer', undefined);
    expect(message(requireSharedMemory)).toMatch(/runtime has no SharedArrayBuffer$/);
  });

  it('is missing in the WebAssembly of the runtime', () => {
    vi.stubGlobal('WebAssembly', {
      Memory: class {
        buffer = new ArrayBuffer(8);
      },
    });
    expect(message(() => sharedMemory(1))).toMatch(/WebAssembly of this runtime has no shared memory$/);
    vi.stubGlobal('WebAssembly', undefined);
    expect(message(() => new Arena())).toMatch(/runtime has no WebAssembly$/);
  });
});

it('no crypto is needed, and a Math.random and a clock that stand still make no two arenas one', async () => {
  vi.stubGlobal('crypto', undefined);
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  vi.spyOn(performance, 'now').mockReturnValue(1234);
  vi.resetModules();
  try {
    // The library takes its clock when it is loaded.
    const { Arena, Semaphore } = await import('../../src/index.js');
    const arenas = [1, 2, 3, 4].map(() => new Arena({ objects: 1, waiters: 8 }));
    expect(new Set(arenas.map((arena) => arena.thread.arena)).size).toBe(4);
    const semaphores = arenas.map((arena, permits) => new Semaphore(permits, { arena }));
    expect(semaphores.map(({ handle }) => Semaphore.from(handle).available)).toEqual([0, 1, 2, 3]);
  } finally {
    vi.restoreAllMocks();
  }
});

describe('a module', () => {
  it('is compiled', () => {
    expect(compile(EMPTY)).toBeInstanceOf(WebAssembly.Module);
  });

  it('may be forbidden by a policy: the error names the directive', () => {
    vi.stubGlobal('WebAssembly', {
      Module: class {
        constructor() {
          throw new Error('blocked');
        }
      },
    });
    const told = message(() => compile(EMPTY));
    expect(told).toContain("'wasm-unsafe-eval'");
    expect(told).toContain('script-src');
  });

  it('may have features that the runtime lacks: the error quotes the runtime, and does not blame the policy', () => {
    const run = () => compile(Uint8Array.of(...EMPTY, 1));
    expect(message(run)).toMatch(/no threads or no bulk memory$/);
    expect(run).toThrow(expect.objectContaining({ cause: expect.any(WebAssembly.CompileError) }));
  });
});
