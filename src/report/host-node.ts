/** The host of Node in the bundles of dist/node/: there every thread looks for deadlocks. */
import { host as node } from '../host/node.js';
import { watching } from './host.js';
import { surroundings } from './standard-error.js';

export const host = { ...node, ...watching(node, surroundings) };
