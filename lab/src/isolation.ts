/**
 * Whether the page has shared memory. If its host sends no headers for that, the page's own service worker
 * (public/isolate.js) adds them from the next load on.
 */
const TRIED = 'taketurns-lab-isolation';

/** Resolves to why there is no shared memory; to undefined if there is. Does not resolve if the page is loaded anew. */
export async function isolate(): Promise<string | undefined> {
  if (crossOriginIsolated) {
    remember(null);
    return undefined;
  }
  if (!('serviceWorker' in navigator))
    return isSecureContext
      ? 'This browser lends no service worker here (a private window?), and the host sends no headers for shared memory.'
      : 'Shared memory needs a secure page: https, or localhost.';
  try {
    if (sessionStorage.getItem(TRIED) !== null)
      return 'The headers for shared memory did not take effect, even by the page’s own service worker.';
    await navigator.serviceWorker.register('./isolate.js');
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) await claimed();
  } catch (error) {
    return `The host sends no headers for shared memory, and a service worker cannot be had: ${error}`;
  }
  remember('yes');
  location.reload();
  return new Promise(() => {});
}

function remember(value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(TRIED);
    else sessionStorage.setItem(TRIED, value);
  } catch {
    // A browser that keeps nothing for the page: it may try again.
  }
}

function claimed(): Promise<void> {
  return new Promise((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
  });
}
