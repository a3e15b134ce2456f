/**
 * Whether the page has shared memory. If its host does not send the headers that shared memory needs, the page's own
 * service worker (public/isolate.js) adds these headers from the next load on.
 */

/**
 * The mark of a page that has loaded itself again. It is in `history.state`: after a hard reload, which goes round the
 * service worker, a page that is not isolated may not see what an isolated page has changed in `sessionStorage`.
 */
const TRIED = 'taketurns-lab-isolation';

/** Resolves to the reason why there is no shared memory, or to undefined. Does not resolve if the page loads again. */
export async function isolate(): Promise<string | undefined> {
  const { [TRIED]: tried, ...state } = history.state ?? {};
  if (tried) history.replaceState(state, '');
  if (crossOriginIsolated) return undefined;
  if (!('serviceWorker' in navigator))
    return isSecureContext
      ? 'This browser offers no service worker here (a private window?), and the host sends no headers for shared memory.'
      : 'Shared memory needs a secure page: https, or localhost.';
  if (tried) return 'The headers for shared memory did not take effect, even by the page’s own service worker.';
  try {
    const { installing, waiting, active } = await navigator.serviceWorker.register('./isolate.js');
    // Another service worker may still be active.
    await activated((installing ?? waiting ?? active) as ServiceWorker);
  } catch (error) {
    return `The host sends no headers for shared memory, and no service worker could be registered: ${error}`;
  }
  history.replaceState({ ...state, [TRIED]: true }, '');
  // A browser may show this document again instead of loading the page.
  // Chromium ignores a reload that is asked for during the event, if it shows the page for the second time.
  addEventListener('pageshow', ({ persisted }) => persisted && setTimeout(() => location.reload()));
  location.reload();
  return new Promise(() => {});
}

async function activated(worker: ServiceWorker): Promise<void> {
  while (worker.state !== 'activated') {
    if (worker.state === 'redundant') throw new Error('it could not be installed');
    await new Promise((resolve) => worker.addEventListener('statechange', resolve, { once: true }));
  }
}
