/** Comes to the location of each key in turn, and leaves the loop there at once. */
import { Arena } from 'taketurns';
import { locationWait } from 'taketurns/algorithms';

export default function emplace({ arena: handle, keys, alternating }) {
  const arena = Arena.from(handle);
  for (const key of keys) locationWait(key, { arena, alternating });
}
