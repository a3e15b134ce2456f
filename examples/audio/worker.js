// Computes blocks of a tone of 440 Hz where they lie in the ring, without a copy. `reserve` sleeps while the ring is full.
import { Channel } from 'taketurns/channel';

addEventListener('message', ({ data: { blocks: handle, frames, rate } }) => {
  const blocks = Channel.from(handle);
  for (let i = 0; ; ) {
    const place = blocks.reserve();
    const block = new Float32Array(place.bytes.buffer, place.bytes.byteOffset, frames);
    for (let k = 0; k < frames; k++, i++) block[k] = Math.sin((i * 440 * 2 * Math.PI) / rate) / 4;
    place.commit(block.byteLength);
  }
});
