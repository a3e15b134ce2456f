// Describes the machine of a run, so that a reader can compare the figures with others.

import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

export function environment(compiler: string): Record<string, string | number> {
  return {
    date: new Date().toISOString(),
    node: process.version,
    v8: process.versions.v8,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    processors: availableParallelism(),
    kernel: `${type()} ${release()}`,
    architecture: process.arch,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    compiler,
  };
}
