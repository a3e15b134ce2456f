/** `rolldown -c rolldown.threads.mjs` writes the programs of the keepers as texts. */
import { threadText } from './scripts/thread-text.mjs';

export default [
  threadText('src/host/keeper-thread.js', 'src/host/keeper-source.ts'),
  threadText('src/host/ports-thread.js', 'src/host/ports-source.ts'),
];
