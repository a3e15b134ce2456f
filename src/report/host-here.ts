/** The host of the bundles of dist/node/: there every thread looks for deadlocks. */
import { host as denoOrBun } from '../host/deno-bun.js';
import type { Host } from '../host/host.js';
import { host as node } from '../host/node.js';
import { looking } from './looking-host.js';
import { surroundings } from './standard-error.js';

const own: Host = 'Deno' in globalThis || 'Bun' in globalThis ? denoOrBun : node;

export const host = { ...own, ...looking(own, surroundings) };
