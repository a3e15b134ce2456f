/** The page's one animation loop: what is shown live is read from shared memory once a frame. */

const tasks = new Set<(now: number) => void>();
const SECOND = 1000;
const times: number[] = [];

/** Has something done in every frame; returns how to end that. */
export function everyFrame(task: (now: number) => void): () => void {
  tasks.add(task);
  return () => tasks.delete(task);
}

/** Frames in the last second. */
export function framesPerSecond(): number {
  return times.length;
}

function frame(now: number): void {
  times.push(now);
  while ((times[0] as number) <= now - SECOND) times.shift();
  for (const task of tasks) task(now);
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
