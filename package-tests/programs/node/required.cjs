// Uses the package in CommonJS, in versions of Node in which `require` loads modules. `import` gives the same instance
// of the package.
const { Semaphore } = require('taketurns');
const { TwaSemaphore } = require('taketurns/algorithms');
const { BinarySemaphore } = require('taketurns/p0514');

const semaphore = new Semaphore(1);
semaphore.acquire();
new TwaSemaphore(1).acquire();
new BinarySemaphore(1).wait();
import('taketurns').then((imported) => {
  console.log(imported.Semaphore === Semaphore && Semaphore.from(semaphore.handle).available === 0);
});
