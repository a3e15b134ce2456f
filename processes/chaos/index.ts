/** What the command `chaos:processes` and the tests share. */
export { type Fault, faultsFor } from './faults.js';
export { LOCAL_FAULTS, type LocalFault, type LocalResult, runLocal } from './local-run.js';
export { type Result, type RunOptions, run } from './run.js';
