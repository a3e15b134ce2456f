// A worker computes blocks of sound, and the thread of the audio plays them. The channel between them is the ring: the worker
// sleeps while it is full, and the thread of the audio, which must never wait, takes a block if one is there.
import { Channel } from 'taketurns/channel';
import processor from './processor.js?worker&url'; // so Vite bundles a module for a worklet

const FRAMES = 128;
const RATE = 44_100;

const blocks = new Channel({ bytes: 4 * FRAMES, capacity: 256 }); // 0.74 seconds of sound
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
worker.postMessage({ blocks: blocks.handle, frames: FRAMES, rate: RATE });

async function connect(context) {
  await context.audioWorklet.addModule(processor);
  const processorOptions = { blocks: blocks.handle };
  const ring = new AudioWorkletNode(context, 'ring', { numberOfInputs: 0, processorOptions });
  ring.connect(context.destination);
}

document.querySelector('button').addEventListener('click', async () => {
  const context = new AudioContext({ sampleRate: RATE });
  await connect(context);
  setTimeout(() => context.close(), 1000);
});

// Before anybody clicks, the page plays one ring of blocks into a buffer, and looks at them.
while (blocks.size < blocks.capacity) await new Promise((resolve) => setTimeout(resolve, 10));
const context = new OfflineAudioContext(1, FRAMES * blocks.capacity, RATE);
await connect(context);
const samples = (await context.startRendering()).getChannelData(0);
const wrong = samples.filter((sample, i) => sample !== Math.fround(Math.sin((i * 440 * 2 * Math.PI) / RATE) / 4));
document.querySelector('output').textContent = `${samples.length} samples through the ring, ${wrong.length} wrong.`;
