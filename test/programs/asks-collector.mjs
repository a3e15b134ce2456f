/** Makes short-lived objects, one in each iteration of the event loop. Only the garbage collector frees them. */
import { Arena } from 'taketurns';
import { RwLock } from 'taketurns/sync';

const arena = new Arena({ objects: 12_288 });
let made = 0;
for (; made < 25_000; made++) {
  new RwLock({ arena });
  await new Promise((resolve) => setImmediate(resolve));
}
console.log(JSON.stringify({ made }));
