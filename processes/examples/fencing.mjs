/**
 * A process stands still while it holds a mutex, for longer than its lease. Another one gets the mutex and writes. When
 * the first goes on and writes too, without having looked, the register refuses it: its token is smaller.
 *
 *     node processes/examples/fencing.mjs
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Space } from 'taketurns-processes';
import { findServer } from './server.mjs';

const LEASE = 1000;

/** A register that keeps the largest token that it has seen, and refuses a smaller one. Yours may be a row with a column. */
const WRITE = `
  local largest = redis.call('HGET', KEYS[1], 'token') or '0'
  local token = ARGV[1]
  if #token < #largest or (#token == #largest and token < largest) then return 0 end
  redis.call('HSET', KEYS[1], 'token', token, 'value', ARGV[2])
  return 1`;

const isFirst = process.send === undefined;
const url = isFirst ? await findServer() : process.argv[2];
const client = new Redis(url);
const register = `register:${isFirst ? process.pid : process.ppid}`;
const write = (held, value) => client.eval(WRITE, 1, register, String(held.token), value);
const space = await Space.connect(client, { space: 'example-fencing', lease: LEASE });
const mutex = await space.mutex(register, { ephemeral: true });

if (isFirst) {
  const child = fork(fileURLToPath(import.meta.url), [url]);
  await once(child, 'message');
  console.log('The other process holds the mutex, and stands still.');
  const held = await mutex.holdAsync();
  console.log('Its lease has ended: this process holds the mutex now.');
  console.log(`This process writes: ${(await write(held, 'new')) ? 'accepted' : 'refused'}`);
  child.send('written');
  await once(child, 'exit');
  console.log(`The register holds: ${await client.hget(register, 'value')}`);
  await held.unlock();
  await client.del(register);
} else {
  const held = await mutex.holdAsync();
  await write(held, 'old');
  process.send('held');
  // A long computation, a debugger, a laptop that sleeps: no timer runs meanwhile, and no heartbeat.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * LEASE);
  await once(process, 'message');
  console.log(`The other process writes: ${(await write(held, 'late')) ? 'accepted' : 'refused'}`);
  console.log(`Had it looked: ${held.signal.reason}`);
}
await space.close();
client.disconnect();
if (!isFirst) process.disconnect();
