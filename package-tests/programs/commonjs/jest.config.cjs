/** Jest's main thread runs this file. The threads of Jest inherit the default arena that the first line makes. */
require('taketurns/share');

// Without this option, Jest runs files that are known to be fast in one process.
module.exports = { rootDir: '..', workerIdleMemoryLimit: '1GB' };
