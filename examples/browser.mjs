// Serves the page in browser/, whose main thread takes turns with two workers, or another folder, such as audio/. The page
// has shared memory only if its server sends two headers, as this server does.
// Run: npm install vite && node node_modules/taketurns/examples/browser.mjs [audio]
// In a clone of the repository: node examples/browser.mjs [audio]
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const [folder = 'browser'] = process.argv.slice(2);
const server = await createServer({
  root: fileURLToPath(new URL(folder, import.meta.url)),
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
