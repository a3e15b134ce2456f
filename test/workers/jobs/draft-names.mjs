/** Takes all free entries for names, and writes no name. Returns how many it took. */
import { coreOf } from '../core.mjs';

export default function draftNames({ handle }) {
  let count = 0;
  while (coreOf(handle).draftName() !== 0) count++;
  return count;
}
