/** A producer or a consumer of a ring, as in examples/bounded-buffer.mjs, which counts everything. */
import { attach } from '../attach.mjs';

export default function putAndTake({ put, taken, putters, takers, ring, seen, each, index }) {
  const slots = BigInt(ring.length);
  const [filled, emptied] = [attach(put), attach(taken)];
  if (index % 2) {
    const order = attach(takers);
    for (let i = 0; i < each; i++) {
      const turn = order.ticket();
      emptied.await(turn);
      filled.await(turn + 1n);
      Atomics.add(seen, Atomics.exchange(ring, Number(turn % slots), -1), 1);
      emptied.advance();
    }
  } else {
    const order = attach(putters);
    for (let i = 0; i < each; i++) {
      const turn = order.ticket();
      filled.await(turn);
      emptied.await(turn - slots + 1n);
      if (Atomics.exchange(ring, Number(turn % slots), (index / 2) * each + i) !== -1) throw new Error('overwritten');
      filled.advance();
    }
  }
}
