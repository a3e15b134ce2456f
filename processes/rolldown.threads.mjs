/** `rolldown -c rolldown.threads.mjs` writes the program of a broker's thread as a text. */
import { threadText } from '../scripts/thread-text.mjs';

export default threadText('src/local/broker-thread.ts', 'src/local/thread-source.ts');
