/** Takes entries for names, as many as there are, and writes none. Returns how many. */
import { coreOf } from '../core.mjs';

export default function draftNames({ handle }) {
  let count = 0;
  while (coreOf(handle).draftName() !== 0) count++;
  return count;
}
