/** Says that its task of one group is done, then waits for another group and notes that it has. */
import { attach, note } from '../attach.mjs';

export default function doneAndWait({ first, second, log, entry }) {
  attach(first).done();
  attach(second).wait();
  note(log, entry);
}
