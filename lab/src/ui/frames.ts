/**
 * The page's one animation loop. A frame in which something changes costs several milliseconds of style, layout, paint
 * and raster, on several threads. A frame without a change costs next to nothing. So live figures on the screen change
 * only a few times a second, all of them in the same frames. Figures off the screen do not change.
 */

interface Task {
  readonly period: number;
  readonly run: (now: number) => void;
  /** The number of the last period that is done. */
  done: number;
  isSeen: boolean;
}

const SECOND = 1000;
/** Elements that are this part of the screen's height away count as seen, so that they are ready for scrolling. */
const MARGIN = '25%';

const tasks = new Set<Task>();
/** The times of the frames of the last second, and of the frame before them. */
const times: number[] = [];

/** Calls `told` when an element comes onto or near the screen, and when it leaves. The result ends these calls. */
export function watchScreen(element: Element, told: (isSeen: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) => told(entries.at(-1)?.isIntersecting === true), {
    rootMargin: MARGIN,
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Calls `run` in the first frame of each period, as long as the element `where` is on the screen. The period is in
 * milliseconds. Returns a function that ends the calls. Periods begin at multiples of their length, so tasks with the
 * same period share their frames. The first call comes when the present period and the next one have ended.
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

/** The frames a second over the last second, or over the last frame if this frame took longer than a second. */
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
