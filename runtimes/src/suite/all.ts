import './cases/semaphore.js';
import './cases/promises.js';
import './cases/cancelling.js';
import './cases/handles.js';
import './cases/names.js';
import './cases/default-arena.js';
import './cases/mutex.js';
import './cases/locks.js';
import './cases/capacitors.js';
import './cases/papers.js';
import './cases/p0514.js';
import './cases/sync.js';
import './cases/channel.js';
import './cases/both.js';
import './cases/keyed.js';
import './cases/report.js';
import './cases/dying.js';

export { runCases, runPair } from './run.js';
