/** Attaches, and lets the collector run again and again between iterations of the event loop. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { attach } from '../attach.mjs';

export default async function collect({ handle }) {
  const attached = attach(handle);
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  for (let i = 0; i < 20; i++) {
    gc();
    await new Promise((done) => setTimeout(done, 2));
  }
  return attached.waiting;
}
