/** Two copies of the package have an arena each. The folder of the second is an argument. */
import { pathToFileURL } from 'node:url';
import { Arena, Semaphore } from 'taketurns';

const other = await import(pathToFileURL(`${process.argv[2]}/index.js`).href);
const one = new Semaphore(0, { arena: new Arena() });
const two = new other.Semaphore(0, { arena: new other.Arena() });
process.on('exit', () => {
  one.release();
  two.release();
  console.log(one.available, two.available);
});
