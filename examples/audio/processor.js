// The thread of the audio: it takes a block if one is there, and else plays silence.
import { Channel } from 'taketurns/channel';

class Ring extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.blocks = Channel.from(processorOptions.blocks);
  }

  process(_, [[output]]) {
    const block = this.blocks.tryReceive();
    if (block) output.set(new Float32Array(block.value.buffer));
    return true;
  }
}

registerProcessor('ring', Ring);
