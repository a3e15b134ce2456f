/** Runs a function body that comes as a text, over a shared object, and sends the result back. */
import { attach } from '../attach.mjs';

const AsyncFunction = (async () => {}).constructor;
/** What scripts of this thread keep for later ones, such as guards. */
const kept = {};

export default function script({ handle, code, words }) {
  return new AsyncFunction('object', 'words', 'kept', code)(attach(handle), words, kept);
}
