/** Meets the others at two barriers in turn. The last to arrive disposes of the barrier while others still leave it. */
import { Arena } from 'taketurns';
import { Barrier } from 'taketurns/sync';

export default function meetAndDestroy({ arena, name, parties, rounds }) {
  const options = { arena: Arena.from(arena) };
  let disposed = 0;
  for (let round = 0; round < rounds; round++) {
    for (const which of ['first', 'second']) {
      const barrier = Barrier.open(`${name} ${which}`, parties, options);
      if (barrier.arriveAndWait() !== parties - 1) continue;
      barrier.dispose();
      disposed++;
    }
  }
  return disposed;
}
