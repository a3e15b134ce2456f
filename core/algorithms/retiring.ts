/** The orderly end of a thread, as far as the algorithms go: it leaves nothing of its own on a chain. */
import { surrender } from './lent';
import { locationLeave } from './locations';

/** Gives back every element that the thread has borrowed. */
export function retire(): void {
  locationLeave();
  surrender();
}
