/** Locks, unlocks, and returns whether an owner had died. */
import { Mutex } from 'taketurns';

export default ({ handle }) => {
  const held = Mutex.from(handle).hold();
  held.unlock();
  return held.ownerDied;
};
