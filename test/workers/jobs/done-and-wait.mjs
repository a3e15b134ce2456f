/** Ends a task of one group, then waits for another group, and notes when this wait has ended. */
import { attach, note } from '../attach.mjs';

export default function doneAndWait({ first, second, log, entry }) {
  attach(first).done();
  attach(second).wait();
  note(log, entry);
}
