/** One experiment runs at a time: two would take each other's processors. Starting one stops the other. */
export interface Experiment {
  stop(): Promise<void> | void;
}

let current: Experiment | undefined;

export async function begin(experiment: Experiment): Promise<void> {
  const before = current;
  current = experiment;
  if (before !== undefined && before !== experiment) await before.stop();
}

export function end(experiment: Experiment): void {
  if (current === experiment) current = undefined;
}

// A page that nobody sees draws no frames and has slow timers: figures taken then would say nothing.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) void current?.stop();
});
