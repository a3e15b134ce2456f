/**
 * Whether the page has shared memory. If its host does not send the headers that shared memory needs, the page's own
 * service worker (public/isolate.js) adds these headers from the next load on.
 */
const TRIED = 'taketurns-lab-isolation';

/** Resolves to the reason why there is no shared memory, or to undefined. Does not resolve if the page loads again. */
export async function isolate(): Promise<string | undefined> {
  if (crossOriginIsolated) {
    remember(null);
    return undefined;
  }
  if (!('serviceWorker' in navigator))
    return isSecureContext
      ? 'This browser offers no service worker here (a private window?), and the host sends no headers for shared memory.'
      : 'Shared memory needs a secure page: https, or localhost.';
  try {
    if (sessionStorage.getItem(TRIED) !== null)
      return 'The headers for shared memory did not take effect, even by the page’s own service worker.';
    await navigator.serviceWorker.register('./isolate.js');
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) await claimed();
  } catch (error) {
    return `The host sends no headers for shared memory, and no service worker could be registered: ${error}`;
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
    // This browser stores nothing for the page, so the page may try again.
  }
}

function claimed(): Promise<void> {
  return new Promise((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
  });
}
