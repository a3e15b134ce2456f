/**
 * This file checks the runtime for each feature that the library needs, and makes the one error that names the missing
 * feature and the reason. It never asks which runtime or browser it is.
 */
import { host } from '#host';

/** Browsers define these; they are undefined elsewhere. */
const page = globalThis as { readonly isSecureContext?: boolean; readonly crossOriginIsolated?: boolean };

/** @throws {Error} if threads cannot share memory here. */
export function requireSharedMemory(): void {
  if (typeof WebAssembly === 'undefined') throw missing('this runtime has no WebAssembly');
  if (typeof SharedArrayBuffer !== 'undefined') return;
  const isInsecure = page.isSecureContext === false;
  if (!isInsecure && page.crossOriginIsolated !== false) throw missing('this runtime has no SharedArrayBuffer');
  throw missing(
    `this page is ${isInsecure ? 'no secure context' : 'not cross-origin isolated'}, and so has no SharedArrayBuffer: ` +
      'serve it over https or from localhost with the headers Cross-Origin-Opener-Policy: same-origin and ' +
      'Cross-Origin-Embedder-Policy: require-corp. In a frame: allow="cross-origin-isolated", and the headers on the ' +
      'page around it. If the host sends no headers: docs/guides/hosts-without-headers.md',
  );
}

/**
 * Makes memory that threads share.
 * @param pages the number of pages of 64 KB.
 * @throws {Error} if the runtime has no such memory, or no address space left for it.
 */
export function sharedMemory(pages: number): WebAssembly.Memory {
  requireSharedMemory();
  const memory = reserve(pages);
  if (isShared(memory.buffer)) return memory;
  throw missing('the WebAssembly of this runtime has no shared memory');
}

function reserve(pages: number): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  } catch (cause) {
    throw missing(
      `there is no address space left for an arena (V8 reserves 10 GiB for each): use fewer arenas${host.moreSpace}`,
      cause,
    );
  }
}

// A value may come from another realm of this thread, such as a context of node:vm, which has classes of its own. So
// these functions do not use `instanceof`. They read the internal slot of a value by a getter that throws if the slot
// is missing.

/** Returns the buffer of a memory; undefined if the value is no memory. */
export function bufferOf(memory: unknown): ArrayBufferLike | undefined {
  return attempt(() => Reflect.get(WebAssembly.Memory.prototype, 'buffer', memory));
}

/**
 * Whether a buffer is shared memory. A page without shared memory has no SharedArrayBuffer, and the answer is false.
 */
export function isShared(buffer: ArrayBufferLike): boolean {
  return attempt(() => Reflect.get(SharedArrayBuffer.prototype, 'byteLength', buffer)) !== undefined;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** @throws {Error} if the runtime cannot compile the module. */
export function compile(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    // The first 8 bytes, the magic number and the version, are the smallest module. If a policy forbids this module, it
    // forbids all modules.
    throw attempt(() => new WebAssembly.Module(bytes.slice(0, 8))) === undefined
      ? missing(
          "the Content-Security-Policy forbids WebAssembly: add 'wasm-unsafe-eval' to script-src (or default-src)",
          cause,
        )
      : missing('the WebAssembly of this runtime has no threads or no bulk memory', cause);
  }
}

function missing(what: string, cause?: unknown): Error {
  return new Error(`taketurns cannot run here: ${what}`, cause === undefined ? undefined : { cause });
}
