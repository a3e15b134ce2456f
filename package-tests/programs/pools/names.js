/**
 * Only the threads of a pool use the library, and find a mutex by its name. They raise a number in steps that are not
 * atomic. Prints the number.
 */
import 'taketurns/share';

const JOBS = 40;
const [, , library, options] = process.argv;
const { default: Pool } = await import(library);

const number = new Int32Array(new SharedArrayBuffer(4));
const filename = new URL('./raises.js', import.meta.url).href;
const pool = new Pool({ filename, minThreads: 2, maxThreads: 2, ...JSON.parse(options) });
await Promise.all(Array.from({ length: JOBS }, () => pool.run({ number })));
await pool.destroy();
console.log(`raised to ${number[0]}`);
