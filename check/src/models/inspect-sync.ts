/**
 * Models of the functions of `taketurns/sync` that only read a word of an object or of an attachment, or count waits
 * for diagnostics. No expected value is one that a call would also give if it read a word of zeros or of ones.
 */
import { ADMITTED, constant, O_DEATHS, O_LIFE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import { recordOf } from '../scene/ops/deaths.js';
import { holds, says, waits } from '../scene/ops/looks.js';
import type { Scene } from '../scene/scene.js';
import { asks } from './answers.js';

const O_PHASE = constant('O_PHASE');
const O_MAX = constant('O_MAX');
const WAIT_GROUP = constant('KIND_WAIT_GROUP');
const BARRIER = constant('KIND_BARRIER');
const NOW = 77;
const LATER = 88;
const GENERATION = 7;

/** The address of the object that lies so many objects after the first. */
const object =
  (number: number, ...more: number[]) =>
  ({ regions }: Scene): number[] => [regions.objects + number * constant('OBJECT_SIZE'), ...more];
const first = (...more: number[]) => object(0, ...more);

/** Sets a word of the first object. */
const set = (word: number, value: number): Op => ({
  text: `store ${value}`,
  next: ({ machine, regions }) => {
    machine.hostStore32(regions.objects + word, value);
    return true;
  },
});

/** The number of the first thread. */
const ME = 1;
/** The attachment of the first thread to the first object. The first element is its spare. */
const OWN = 2;

export const models: readonly Model[] = [
  {
    name: 'inspect: a wait group, and who waits for it',
    programs: [
      [
        asks('phaseCount', first(), 3),
        asks('takeOff', first(1, 0), ADMITTED),
        asks('phaseCount', first(), 2),
        asks('deathsOf', first(), 0),
        set(O_DEATHS, 6),
        asks('deathsOf', first(), 6),
        waits(first(), 0),
        call('waitsBegin', () => [OWN, 2, NOW]),
        waits(first(), 2),
        says('E_SINCE', () => [OWN - 1], NOW),
        call('waitsBegin', () => [OWN, 1, LATER]),
        waits(first(), 3),
        // A thread that waits holds nothing by that. An end of a channel has another number in the same word.
        asks('held', () => [OWN], 0),
        says('E_SINCE', () => [OWN - 1], NOW),
        call('waitsEnd', () => [OWN, 3, 0]),
        waits(first(), 0),
        asks('putOn', first(1, OWN), ADMITTED),
        asks('putOn', first(1, OWN), ADMITTED),
        asks('heldByAttachment', () => [OWN], 2),
        call('dropTask', () => [OWN]),
        asks('heldByAttachment', () => [OWN], 1),
        holds(first(), 1),
        // The second attachment is to another object.
        holds(object(1), 0),
        call('disposePhase', first()),
        asks('phaseCount', first(), 0),
      ],
    ],
    arena: { objects: 2 },
    leaves: true,
    objects: (scene) => {
      const address = scene.object(WAIT_GROUP, 0, 0, 3, 0n, 1);
      scene.machine.hostStore32(address + O_MAX, constant('PHASE_COUNT'));
      scene.object(WAIT_GROUP, 0, 0, 1, 0n, 1);
    },
  },
  {
    name: 'inspect: a barrier',
    programs: [
      [
        asks('isFull', first(), 0),
        asks('arriveAt', first(1, OWN), constant('ARRIVED')),
        asks('isFull', first(), 1),
        call('finishAction', first(0)),
        asks('isFull', first(), 0),
      ],
    ],
    leaves: true,
    objects: (scene) => {
      const address = scene.object(BARRIER, 0, 0, 1, 0n, 1);
      scene.machine.hostStore32(address + O_MAX, 1);
    },
  },
  {
    name: 'inspect: a read-write lock',
    programs: [
      [
        asks('readsBy', first(ME), 0),
        asks('beginRead', seat, ADMITTED),
        asks('readsBy', first(ME), 1),
        asks('readsBy', object(1, ME), 0),
        call('endRead', seat),
        asks('readsBy', first(ME), 0),
        asks('hasDied', first(), 0),
        set(O_PHASE, constant('GATE_DIED')),
        asks('hasDied', first(), 1),
        asks('unreportedDeaths', first(), 0),
        set(constant('O_UNREPORTED_DEATHS'), 7),
        asks('unreportedDeaths', first(), 7),
      ],
    ],
    arena: { objects: 2 },
    leaves: true,
    objects: (scene) => {
      scene.object(constant('KIND_RW_LOCK'), 0, 0, 0, 0n, 1);
      scene.object(constant('KIND_RW_LOCK'), 0, 0, 0, 0n, 1);
    },
  },
  {
    name: 'inspect: whose a condition is',
    programs: [
      [
        asks('isOf', (scene) => [...object(1)(scene), ...first()(scene)], 1),
        // Another mutex, and the same address in another generation.
        asks('isOf', (scene) => [...object(1)(scene), ...object(2)(scene)], 0),
        set(O_LIFE + 4, GENERATION + 1),
        asks('isOf', (scene) => [...object(1)(scene), ...first()(scene)], 0),
      ],
    ],
    arena: { objects: 3 },
    leaves: true,
    objects: (scene) => {
      scene.object(constant('KIND_MUTEX'), 0, 0);
      scene.object(constant('KIND_CONDITION'), 0, GENERATION, 0);
      scene.object(constant('KIND_MUTEX'), 0, 0);
      for (const number of [0, 2])
        scene.machine.hostStore32((object(number)(scene)[0] as number) + O_LIFE + 4, GENERATION);
      scene.machine.hostStore32((object(1)(scene)[0] as number) + O_MAX, object(0)(scene)[0] as number);
    },
  },
];

/** The first object, and the first seat of the first thread. */
function seat(scene: Scene): number[] {
  return [scene.regions.objects, recordOf(scene, 0) + constant('T_SEATS')];
}
