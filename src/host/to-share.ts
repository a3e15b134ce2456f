/** What gives a worker the default arena: the text for an error in a worker that has none. */

/** In a runtime whose workers inherit the default arena. */
export const BY_IMPORT =
  "add the line import 'taketurns/share'; (in CommonJS require('taketurns/share');) at the top of the file that the " +
  'main thread runs, where it runs before a worker starts. Or post the worker a handle, for Arena.from or the from of ' +
  'a class (docs/semaphore.md#where-only-the-workers-use-the-library)';

/** In a runtime whose workers inherit nothing. */
export const BY_MESSAGE =
  'call worker.postMessage(Arena.default.handle) where this worker is started, and Arena.from(event.data) here, before ' +
  'anything else of the library (docs/guides/in-a-page.md#names-and-a-content-security-policy)';
