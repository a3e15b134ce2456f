/** As in Bun, a web worker reports its end after this thread has left the arena in which the thread watches the worker. */
globalThis.Bun = {};
const { Arena } = await import('taketurns');

const worker = Object.assign(new EventTarget(), { terminate() {} });
const arena = new Arena({ watch: false });
arena.watch(worker, arena.thread);
arena.dispose();
worker.dispatchEvent(new Event('close'));
console.log('heard');
