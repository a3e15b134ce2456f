/** Both files of tests in one process, as `node --test --test-isolation=none` runs them from Node 22.8 on. */
import './first.test.js';
import './second.test.js';
