/** Members with an even index send numbers, and the others receive. Returns how many came out of order. */
import { Channel, number } from 'taketurns/channel';

export default function sendAndReceive({ handle, each, seen, index, parties, barrier }) {
  const channel = Channel.from(handle, number);
  Atomics.add(barrier, 0, 1);
  while (Atomics.load(barrier, 0) < parties);
  const sender = index / 2;
  if (index % 2 === 0) {
    for (let i = 0; i < each; i++) channel.send(sender * each + i);
    return 0;
  }
  const last = new Map();
  let wrong = 0;
  for (let i = 0; i < each; i++) {
    const message = channel.receive();
    Atomics.add(seen, message, 1);
    const from = Math.floor(message / each);
    if ((last.get(from) ?? -1) >= message) wrong++;
    last.set(from, message);
  }
  return wrong;
}
