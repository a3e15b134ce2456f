/** Models of the pool of elements, of the objects and of the registry. */

import { Violation } from '../engine/search/violation.js';
import { ANSWER_CLOSED, constant, STATE_MASK } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { acquire } from '../scene/ops/acquire.js';
import { call, dispose } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import { eventLoop } from '../scene/ops/event-loop.js';
import { arrive } from '../scene/ops/promises.js';
import { post } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { GOT } from '../scene/words.js';

/** Where a thread keeps the address of its own object. */
const MINE = GOT + 1;
/** Where a thread keeps the number of its attachment to its own object. */
const ATTACHMENT = GOT;
const LIMIT = 0x7fffffff;
const KIND = constant('KIND_SEMAPHORE');

const create = (mayFail = false): Op =>
  call(
    'createObject',
    () => newObject({ kind: KIND, permits: 1, max: LIMIT }),
    (attachment, scene, t) => {
      if (attachment < 0 && !mayFail) throw new Violation(`thread ${t} finds no room for an object`);
      const address = attachment < 0 ? 0 : scene.objectOf(attachment);
      for (let u = 0; u < scene.threads; u++) {
        if (address !== 0 && !scene.dead(u) && scene.get(u, MINE) === address) {
          throw new Violation(`threads ${t} and ${u} have both been given the object at ${address}`);
        }
      }
      scene.set(t, MINE, address);
      scene.set(t, ATTACHMENT, attachment);
    },
  );

/** Disposes of the thread's own object and detaches from it. When the last thread detaches, the memory is freed. */
const drop = (): Op[] => [
  call('dispose', (scene, t) => [mine(scene, t)]),
  call('letGo', (scene, t) => {
    scene.set(t, MINE, 0);
    return [scene.get(t, ATTACHMENT), 0];
  }),
];

function mine(scene: Scene, t: number): number {
  return scene.get(t, MINE);
}

/**
 * Attaches to the first object by its first handle. If the thread is attached, the generation of the object stays until
 * the thread detaches.
 */
const attach = (): Op[] => [
  call(
    'attach',
    (scene) => [scene.semaphores[0], 0, KIND],
    (answer, scene, t) => {
      scene.set(t, MINE, answer > 0 ? scene.semaphores[0] : 0);
      scene.set(t, ATTACHMENT, answer);
      if (answer < 0 && answer !== ANSWER_CLOSED && answer !== constant('ANSWER_STALE')) {
        throw new Violation(`attaching is answered ${answer}`);
      }
    },
  ),
  call(
    'generation',
    (scene) => [scene.semaphores[0]],
    (generation, scene, t) => {
      if (mine(scene, t) !== 0 && generation !== 0) {
        throw new Violation(`thread ${t} holds a reference to an object that has been freed`);
      }
    },
  ),
  {
    text: 'detach',
    next: (scene, t) => {
      if (mine(scene, t) === 0) return true;
      scene.set(t, MINE, 0);
      scene.call(t, 'letGo', scene.get(t, ATTACHMENT), 0);
      return false;
    },
  },
];

const rejoin = (): Op[] => [
  call('unregister', (scene, t) => {
    scene.set(t, MINE, 0);
    return [];
  }),
  call('register', () => [0], registered),
];

function registered(index: number, scene: Scene, t: number): void {
  if (index <= 0) throw new Violation(`thread ${t} finds no room to register`);
  for (let u = 0; u < scene.threads; u++) {
    if (scene.get(u, MINE) === index) throw new Violation(`threads ${t} and ${u} have one record`);
  }
  scene.set(t, MINE, index);
}

/** A number by which a runtime knows a thread. No thread has this number at first. */
const RUNTIME_ID = 9;

/** Checks that the second thread, which has just registered, has the number RUNTIME_ID in the record that it has got. */
function isNamed(scene: Scene): void {
  const { threads } = scene.regions;
  const record = threads + scene.global(1, 'threads/me') * constant('THREAD_SIZE');
  const id = scene.word(record + constant('T_RUNTIME_ID'));
  if (id !== RUNTIME_ID) throw new Violation(`the runtime id of a thread that is registered is ${id}`);
}

/** Makes the arena as it is before any thread has registered in it. */
function empty(scene: Scene): void {
  for (let t = 0; t < scene.threads; t++) scene.callNow(t, 'unregister');
  scene.machine.hostStore32(constant('USED_THREADS'), 0);
  scene.machine.hostStore32(constant('USED_ELEMENTS'), 0);
}

/**
 * Checks that no two registered threads have the same spare. `registered` has checked that no two have the same record.
 */
function apart(scene: Scene): void {
  const spares = new Set<number>();
  for (let t = 0; t < scene.threads; t++) {
    const spare = scene.spare(t);
    if (spares.has(spare)) throw new Violation(`two threads have the element at ${spare} for their spare`);
    spares.add(spare);
    if ((scene.word(spare) & STATE_MASK) !== constant('RESERVED')) throw new Violation('a spare is not RESERVED');
  }
}

export const models: readonly Model[] = [
  {
    // No other thread knows the objects that the dead thread has made. So the reaper frees these objects, and there is
    // room again.
    name: 'objects, those that only a dead thread knew',
    programs: [
      [create(), ...drop(), create()],
      [supervise(), create()],
    ],
    arena: { objects: 1 },
    deaths: 1,
    mortal: [0],
  },
  {
    name: 'objects, those that only a thread knew that ends',
    programs: [[create(), ...rejoin(), create()]],
    arena: { objects: 1 },
  },
  {
    name: 'objects',
    programs: [
      [create(), ...drop(), create()],
      [create(), ...drop(), create()],
    ],
    arena: { objects: 2 },
  },
  {
    name: 'objects of three, two places',
    programs: [[create(true)], [create(true)], [create(true)]],
    arena: { objects: 2 },
    end: (scene) => {
      const got = [0, 1, 2].filter((t) => mine(scene, t) !== 0).length;
      if (got !== 2) throw new Violation(`${got} of 2 objects were given out`);
    },
  },
  {
    name: 'objects, a thread is killed',
    long: true,
    programs: [[create(), ...drop()], [create(), ...drop(), create()], [create()]],
    arena: { objects: 4 },
    deaths: 1,
    mortal: [0],
  },
  {
    name: 'objects, a thread is killed and reaped',
    programs: [
      [create(), ...drop(), create()],
      [supervise(), create(true), ...drop()],
    ],
    arena: { objects: 2 },
    deaths: 1,
    mortal: [0],
  },
  {
    name: 'objects, two and one',
    programs: [[create(), create()], [create()]],
    arena: { objects: 3 },
  },
  {
    name: 'objects, two at once',
    programs: [[create()], [create()]],
    arena: { objects: 2 },
  },
  {
    name: 'objects, two at once, where others were',
    programs: [[create()], [create()]],
    arena: { objects: 2 },
    objects: (scene) => scene.machine.hostStore32(constant('USED_OBJECTS'), 2),
  },
  {
    name: 'references, two at once',
    programs: [attach(), attach()],
    arena: { objects: 1 },
    objects: (scene) => {
      scene.semaphore({ permits: 1 });
    },
  },
  {
    name: 'references',
    programs: [[dispose(), call('letGo', (scene) => [scene.attachment(0, 0), 0])], attach(), attach()],
    arena: { objects: 1 },
    objects: (scene) => {
      scene.semaphore({ permits: 1 });
    },
    end: (scene) => {
      const address = scene.semaphores[0];
      const life = address + constant('O_LIFE');
      if (scene.word(life) !== 0 || scene.word(life + 4) !== 1) throw new Violation('the object was not freed once');
    },
  },
  {
    name: 'registry',
    programs: [rejoin(), rejoin(), rejoin()],
    arena: { elements: 3, objects: 0 },
    end: apart,
  },
  {
    name: 'registry, runtime ids',
    programs: [[call('unregister', () => [])], [call('unregister', () => []), call('register', () => [RUNTIME_ID])]],
    arena: { elements: 2, objects: 0 },
    end: isNamed,
  },
  {
    name: 'registry, runtime ids of the dead',
    programs: [[], [call('unregister', () => []), call('register', () => [RUNTIME_ID])], [supervise()]],
    arena: { elements: 3, objects: 0 },
    deaths: 1,
    mortal: [0],
    // At the end the record of the dead thread may belong to another thread.
    leaves: true,
    objects: (scene) => scene.kill(0),
    end: isNamed,
  },
  {
    name: 'registry, a thread is killed',
    programs: [rejoin(), rejoin(), rejoin()],
    arena: { elements: 4, objects: 0 },
    deaths: 1,
    mortal: [0],
  },
  {
    name: 'first registrations',
    programs: [0, 1, 2].map(() => [call('register', () => [0], registered)]),
    arena: { elements: 3, objects: 0 },
    objects: empty,
    end: (scene) => {
      apart(scene);
      const used = scene.word(constant('USED_THREADS'));
      if (used !== scene.threads) throw new Violation(`${used} records are said to be in use, not ${scene.threads}`);
    },
  },
  {
    name: 'first registrations of two',
    programs: [0, 1].map(() => [call('register', () => [0], registered)]),
    arena: { elements: 2, objects: 0 },
    objects: empty,
    end: (scene) => {
      apart(scene);
      const used = scene.word(constant('USED_THREADS'));
      if (used !== scene.threads) throw new Violation(`${used} records are said to be in use, not ${scene.threads}`);
    },
  },
  {
    name: 'registry between waits',
    programs: [
      [acquire(), ...rejoin(), acquire(), ...rejoin(), acquire()],
      [post(), post(), post()],
    ],
    arena: { elements: 2, buckets: 1, objects: 1 },
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
  },
  {
    name: 'registry between promises',
    programs: [
      [arrive(), eventLoop(), ...rejoin(), arrive(), eventLoop(), ...rejoin()],
      [post(), post()],
    ],
    arena: { elements: 4, buckets: 1, objects: 1 },
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
  },
];
