/**
 * Whether the page has shared memory. If its host does not send the headers that shared memory needs, the page's own
 * service worker (public/isolate.js) adds these headers from the next load on.
 */
const TRIED = 'taketurns-lab-isolation';
/**
 * The page loads itself again at most so often in so many milliseconds. One time is not enough: a hard reload goes round
 * the service worker, and what an isolated page stores, a page that is not isolated may not see.
 */
const TRIES = 3;
const PERIOD = 10_000;

/** Resolves to the reason why there is no shared memory, or to undefined. Does not resolve if the page loads again. */
export async function isolate(): Promise<string | undefined> {
  if (crossOriginIsolated) return undefined;
  if (!('serviceWorker' in navigator))
    return isSecureContext
      ? 'This browser offers no service worker here (a private window?), and the host sends no headers for shared memory.'
      : 'Shared memory needs a secure page: https, or localhost.';
  try {
    if (recentTries().length >= TRIES)
      return 'The headers for shared memory did not take effect, even by the page’s own service worker.';
    await navigator.serviceWorker.register('./isolate.js');
    await navigator.serviceWorker.ready;
    remember([...recentTries(), Date.now()]);
  } catch (error) {
    return `The host sends no headers for shared memory, and no service worker could be registered: ${error}`;
  }
  location.reload();
  return new Promise(() => {});
}

/** The times of the last tries. */
function recentTries(): number[] {
  const times = (sessionStorage.getItem(TRIED) ?? '').split(' ').map(Number);
  return times.filter((time) => Date.now() - time < PERIOD);
}

function remember(times: readonly number[]): void {
  try {
    sessionStorage.setItem(TRIED, times.join(' '));
  } catch {
    // This browser stores nothing for the page, so the page may try again.
  }
}
