/** What a file of tests does with the library, in whatever host runs it. `test` and `expect` are the host's. */
import { once } from 'node:events';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { Arena, Mutex, Semaphore, TimeoutError } from 'taketurns';

export function tests({ test, expect }) {
  test('objects are made, shared with a worker and disposed of', async () => {
    const semaphore = new Semaphore(0);
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: semaphore.handle });
    await semaphore.acquireAsync();
    await once(worker, 'exit');
    expect(Arena.from(semaphore.handle.arena).threads).toBe(1);
    semaphore.dispose();
  });

  test('a handle that has been sent stands for the same object', () => {
    const mutex = new Mutex();
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(mutex.handle);
    const same = Mutex.from(receiveMessageOnPort(port2).message);
    port1.close();
    mutex.lock();
    expect(() => same.lock({ timeout: 1000 })).toThrow(/already/);
    same.unlock();
  });

  test('a time-out ends', async () => {
    const semaphore = new Semaphore(0);
    expect(() => semaphore.acquire(1, { timeout: 5 })).toThrow(TimeoutError);
    await expect(semaphore.acquireAsync(1, { timeout: 5 })).rejects.toThrow(TimeoutError);
  });
}
