/**
 * A service worker for hosts that cannot set headers. It adds the headers that shared memory needs to everything that
 * the page and its workers load.
 */
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (new URL(request.url).origin !== self.location.origin) return;
  if (request.cache === 'only-if-cached' && request.mode !== 'same-origin') return;
  event.respondWith(
    fetch(request).then((response) => {
      if (response.status === 0) return response;
      const headers = new Headers(response.headers);
      for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
      const { status, statusText } = response;
      // A response with one of these codes must have no body.
      const body = [101, 204, 205, 304].includes(status) ? null : response.body;
      return new Response(body, { status, statusText, headers });
    }),
  );
});
