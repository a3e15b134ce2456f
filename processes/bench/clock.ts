/** The monotonic clock of the machine in milliseconds. All processes read it, so their times can be compared. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Milliseconds of processor time that this process has used. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
