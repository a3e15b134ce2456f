/** What the command `chaos:valkey` and the tests share. */
export { FAULTS, type Fault } from './faults.js';
export { type Result, type RunOptions, run } from './run.js';
