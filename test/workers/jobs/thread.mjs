/** Attaches, and tells which thread this is. */
import { Arena } from 'taketurns';
import { attach } from '../attach.mjs';

export default function thread({ handle }) {
  attach(handle);
  return Arena.from(handle.arena).thread;
}
