/** What the command `chaos:processes` and the tests share. */
export { FAULTS, type Fault } from './faults.js';
export { type Result, type RunOptions, run } from './run.js';
