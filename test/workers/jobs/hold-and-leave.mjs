/** Runs code over shared objects, such as code that locks them. Then leaves the arena: to other threads it has died. */
import { Arena } from 'taketurns';
import { attach } from '../attach.mjs';

export default function holdAndLeave({ handles, code }) {
  const run = new Function('object', code);
  for (const handle of handles) run(attach(handle));
  Arena.from(handles[0].arena).dispose();
}
