/** Attaches, and returns the handle of this thread. */
import { Arena } from 'taketurns';
import { attach } from '../attach.mjs';

export default function thread({ handle }) {
  attach(handle);
  return Arena.from(handle.arena).thread;
}
