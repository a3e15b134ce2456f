/** The host of Deno and Bun in the bundles of dist/node/: there every thread looks for deadlocks. */
import { host as denoOrBun } from '../host/deno-bun.js';
import { watching } from './host.js';
import { surroundings } from './standard-error.js';

export const host = { ...denoOrBun, ...watching(denoOrBun, surroundings) };
