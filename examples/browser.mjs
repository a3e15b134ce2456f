// Serves the page in browser/, whose main thread takes turns with two workers. The page has shared memory only if its
// server sends two headers, as this server does.
// Run: npm install vite && node node_modules/taketurns/examples/browser.mjs
// In a clone of the repository: node examples/browser.mjs
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const server = await createServer({
  root: fileURLToPath(new URL('browser', import.meta.url)),
  configFile: false,
  logLevel: 'warn',
  server: {
    headers: {
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    },
  },
});
await server.listen();
console.log(`open ${server.resolvedUrls.local[0]}`);
