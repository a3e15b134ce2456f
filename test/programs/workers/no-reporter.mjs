/** Is preloaded before taketurns/report, and makes the reporter die at its start. */
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(file, options) {
    super(options?.name === 'taketurns/report' ? `${file}.missing` : file, options);
  }
};
syncBuiltinESMExports();
