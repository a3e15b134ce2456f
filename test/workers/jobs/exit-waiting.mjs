/** Ends the worker while one of its promises waits for a word. */
import { attach } from '../attach.mjs';

export default async function exitWaiting({ array, handle }) {
  attach(handle).waitAsync(array, 0, 0);
  process.exit();
}
