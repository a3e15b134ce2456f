/** What is searched. */
import type { ObjectSettings, Want } from './client.js';
import type { Configuration } from './protocol.js';

const one: ObjectSettings = { name: 'a', kind: 's', max: 1 };
const want = (n = 1, object = 0): Want => ({ object, n });

export const CONFIGURATIONS: readonly Configuration[] = [
  { name: '1, 1 of 1: nothing happens', objects: [one], clients: [[want()], [want()]], budget: {} },
  { name: '1, 1 of 1: a cut', objects: [one], clients: [[want()], [want()]], budget: { cuts: 1 } },
  {
    name: '1, 1 of 1: a lost message, a time-out',
    objects: [one],
    clients: [[want()], [want()]],
    budget: { losses: 1, timeouts: 1 },
  },
];
