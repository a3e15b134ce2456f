/** The orderly end of a thread in the algorithms: it leaves no element of its own on a chain. */
import { surrender } from './borrowed';
import { locationLeave } from './locations';

/** Gives back every element that the thread has borrowed. */
export function retire(): void {
  locationLeave();
  surrender();
}
