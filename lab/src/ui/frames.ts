/**
 * The page's one animation loop. A frame in which something changes costs several milliseconds of style, layout, paint
 * and raster, on several threads; one in which nothing does costs next to none. So what is shown live is looked at a
 * few times a second, all of it in the same frames, and only what is on the screen.
 */

interface Task {
  readonly period: number;
  readonly run: (now: number) => void;
  /** Number of the period that is done with. */
  done: number;
  isSeen: boolean;
}

const SECOND = 1000;
/** Of the screen's height: what is as near as that counts as seen, so that it is there when it is scrolled to. */
const MARGIN = '25%';

const tasks = new Set<Task>();
/** Of the frames of the last second, and of the one before them. */
const times: number[] = [];

/** Tells whenever an element comes onto the screen, or near it, and whenever it leaves. */
export function watchScreen(element: Element, told: (isSeen: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) => told(entries.at(-1)?.isIntersecting === true), {
    rootMargin: MARGIN,
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Has something done in the first frame of every so many milliseconds, as long as an element is on the screen; returns
 * how to end that. Periods begin at their multiples: tasks with the same one share their frames. The first that is made
 * use of is the first that begins a whole one from now.
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

/** Over the last second, or the last frame if that took longer. */
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
