/**
 * taketurns/share makes the default arena of the program, so that all workers find one object under one name.
 *
 * In Node, Deno and Bun, a worker of `worker_threads` inherits the default arena of the thread that starts it. The main
 * thread makes the default arena when it first uses one of its objects. If only the workers use the library, as in a
 * pool, the main thread imports this entry, before it starts a worker:
 *
 * ```ts
 * import 'taketurns/share'; // in CommonJS: require('taketurns/share')
 * ```
 *
 * `node --import taketurns/share app.js` does the same for a program that you do not change.
 *
 * The entry exports nothing. It has an effect in the main thread alone: a worker that has inherited the default arena
 * keeps it, and in a worker that has none the import throws the error of `Arena.default`. Workers of pages, and web
 * workers of Deno, inherit nothing: post them `Arena.default.handle`.
 * @since 0.3.0
 * @module
 */
import { shareDefault } from './runtime/own-arenas.js';

shareDefault();
