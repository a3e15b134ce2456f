// Uses the package in CommonJS, where Node lets `require` load modules. `import` leads to the same instance of it.
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
