/**
 * The page's one animation loop. A frame in which something changes costs several milliseconds of style, layout, paint
 * and raster, on several threads; a frame without a change costs next to nothing. So live figures on the screen change
 * a few times a second, all of them in the same frames, and figures off the screen do not.
 */

interface Task {
  readonly period: number;
  readonly run: (now: number) => void;
  /** The number of the last period that is done. */
  done: number;
  isSeen: boolean;
}

const SECOND = 1000;
/** Elements this near to the screen, in parts of its height, count as seen, so that they are ready for scrolling. */
const MARGIN = '25%';

const tasks = new Set<Task>();
/** The times of the frames of the last second, and of the frame before them. */
const times: number[] = [];

/** Calls `told` when an element comes onto the screen, or near it, and when it leaves. Returns how to end that. */
export function watchScreen(element: Element, told: (isSeen: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) => told(entries.at(-1)?.isIntersecting === true), {
    rootMargin: MARGIN,
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Calls `run` in the first frame of each period, in milliseconds, as long as an element is on the screen. Returns a
 * function that ends that. Periods begin at multiples of their length, so tasks with the same period share their
 * frames. The period under way is left out.
 */
export function every(period: number, where: Element, run: (now: number) => void): () => void {
  const done = Math.floor(performance.now() / period) + 1;
  const task: Task = { period, run, done, isSeen: false };
  tasks.add(task);
  const unwatch = watchScreen(where, (isSeen) => {
    task.isSeen = isSeen;
  });
  return () => {
    tasks.delete(task);
    unwatch();
  };
}

/** The frames a second over the last second, or over the last frame if that took longer. */
export function framesPerSecond(): number {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined || first === last) return 0;
  return Math.round(((times.length - 1) * SECOND) / (last - first));
}

function frame(now: number): void {
  times.push(now);
  while ((times[1] ?? now) <= now - SECOND) times.shift();
  for (const task of tasks) {
    const current = Math.floor(now / task.period);
    if (!task.isSeen || current <= task.done) continue;
    task.done = current;
    task.run(now);
  }
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
