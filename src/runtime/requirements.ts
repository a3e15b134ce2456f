/**
 * This file looks for what the library needs of its runtime, feature by feature, and makes the one error that says what is
 * missing and why. Nothing here asks which runtime or browser it is.
 */

/** The smallest module there is: its magic number and version. What forbids this one forbids all. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Of browsers; undefined elsewhere. */
const page = globalThis as { readonly isSecureContext?: boolean; readonly crossOriginIsolated?: boolean };

/** @throws {Error} if threads cannot share memory here. */
export function requireSharedMemory(): void {
  if (typeof WebAssembly === 'undefined') throw missing('this runtime has no WebAssembly');
  if (typeof SharedArrayBuffer !== 'undefined') return;
  if (page.isSecureContext === false) {
    throw missing(
      'this page is no secure context, and so has no SharedArrayBuffer: serve it over https, or from localhost, ' +
        `with the headers ${HEADERS}`,
    );
  }
  if (page.crossOriginIsolated === false) {
    throw missing(
      `this page is not cross-origin isolated, and so has no SharedArrayBuffer: serve it with the headers ${HEADERS}. ` +
        'A page in a frame also needs allow="cross-origin-isolated" there, and the headers on the page around it',
    );
  }
  throw missing('this runtime has no SharedArrayBuffer');
}

/**
 * Memory that threads share.
 * @param pages how many, of 64 KB each.
 * @throws {Error} if that is not to be had here.
 */
export function sharedMemory(pages: number): WebAssembly.Memory {
  requireSharedMemory();
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  if (memory.buffer instanceof SharedArrayBuffer) return memory;
  throw missing('the WebAssembly of this runtime has no shared memory');
}

/** @throws {Error} if the module is not to be compiled here. */
export function compile(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    throw isForbidden()
      ? missing(
          "the Content-Security-Policy of this page or worker forbids WebAssembly: add 'wasm-unsafe-eval', which " +
            'allows no more than that, to its directive script-src (or default-src, where it has no script-src)',
          cause,
        )
      : missing('the WebAssembly of this runtime has no threads or no bulk memory', cause);
  }
}

function isForbidden(): boolean {
  try {
    return new WebAssembly.Module(EMPTY) === undefined;
  } catch {
    return true;
  }
}

const HEADERS = 'Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp';

function missing(what: string, cause?: unknown): Error {
  return new Error(`taketurns cannot run here: ${what}`, cause === undefined ? undefined : { cause });
}
