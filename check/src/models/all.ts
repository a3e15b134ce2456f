/**
 * All models, in the order of the printed table. To add a model of a primitive that has models already, add a line to
 * the table of the primitive. For a new primitive, add its ops first (docs/internals/checking.md).
 */
import type { Model } from '../scene/model.js';
import { allocator } from './allocator.js';
import { answers } from './answers.js';
import { askings } from './asking.js';
import { byKey } from './by-key.js';
import { cancellations } from './cancelling.js';
import { capacitors } from './capacitors.js';
import { conditionObjects } from './condition-object.js';
import { conditions } from './conditions.js';
import { deadThreads } from './dead-threads.js';
import { deaths } from './dying.js';
import { eventCounts } from './event-counts.js';
import { inspections } from './inspect.js';
import { interrupted } from './interrupted.js';
import { chainSemaphores, hashedSemaphores, listingSemaphores, thresholdSemaphores } from './listings.js';
import { locks } from './locks.js';
import { mutexes } from './mutex.js';
import { names } from './names.js';
import { p0514 } from './p0514.js';
import { phases } from './phases.js';
import { places } from './places.js';
import { queueNodes } from './queue-nodes.js';
import { reusedElements } from './reused-elements.js';
import { rwLocks } from './rw-lock.js';
import { robustSemaphores, semaphores } from './semaphore.js';
import { tombstones } from './tombstones.js';

export const models: readonly Model[] = [
  ...allocator,
  ...names,
  ...answers,
  ...inspections,
  ...interrupted,
  ...reusedElements,
  ...semaphores,
  ...cancellations,
  ...askings,
  ...robustSemaphores,
  ...deaths,
  ...deadThreads,
  ...tombstones,
  ...listingSemaphores,
  ...chainSemaphores,
  ...thresholdSemaphores,
  ...hashedSemaphores,
  ...conditions,
  ...locks,
  ...byKey,
  ...queueNodes,
  ...eventCounts,
  ...capacitors,
  ...p0514,
  ...phases,
  ...conditionObjects,
  ...rwLocks,
  ...places,
  ...mutexes,
];

// Jobs, reports and tests name a model by its name alone.
for (const [i, { name }] of models.entries())
  if (models.findIndex((other) => other.name === name) !== i) throw new Error(`two models are called ${name}`);
