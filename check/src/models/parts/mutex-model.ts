/**
 * A model of the mutex from a line: a program as text (mutex-ops.ts), and the initial state of the mutex.
 *
 * Beside the checks of every scene, the model checks three things. Only a free lock is taken, by the thread itself.
 * Only the owner gives the lock back. A waiter (a thread or a promise) that has taken its ticket is overtaken at most
 * `bound` times.
 */

import { constant } from '../../scene/layout.js';
import type { Model } from '../../scene/model.js';
import { OVERTAKINGS, TICKETS } from '../../scene/relative-hash.js';
import { checkLearnt, checkLimit, checkWoken, checkWord } from './mutex-ends.js';
import { mutexOp } from './mutex-ops.js';
import { checkLeft } from './mutex-promises.js';
import { COUNT_BIT, HAS, M_WORD, setGuess, WAITS, wrote } from './mutex-words.js';
import { partsOf } from './program.js';

const M_LIMIT = constant('M_LIMIT');
const M_PACE = constant('M_PACE');
const M_TURN = constant('M_TURN');

export interface MutexLine {
  readonly name: string;
  readonly program: string;
  readonly bypass: number;
  /** How often a waiter may be overtaken; `bypass` by default. */
  readonly bound?: number;
  readonly spin?: number;
  readonly buckets?: 1 | 2;
  /** The initial count of overtakings. */
  readonly count?: number;
  readonly long?: boolean;
  readonly mortal?: readonly number[];
  /** Whether a thread that has locked by any call but `lock` of the core asks whether owners have died. */
  readonly learns?: boolean;
  readonly asleep?: readonly number[];
  readonly deaths?: number;
  readonly undead?: boolean;
  readonly extra?: number;
  /** Each thread has its spare, and no other element is free. */
  readonly full?: boolean;
  readonly aged?: boolean;
  /** The thread that has the lock at first. */
  readonly locked?: number;
  /** Whether that thread unlocks before the others start. */
  readonly free?: boolean;
  /** The initial limit of the count of overtakings. */
  readonly limit?: number;
  /** The count of overtakings at which the turn is over for a head that is awake; the limit by default. */
  readonly over?: number;
  /** The measured pace of the lock. */
  readonly pace?: number;
  /** The thread that is the head at first. */
  readonly head?: number;
  /** Whether the head is dead. */
  readonly dead?: boolean;
  /** A thread that must learn of the dispose of the mutex, though the owner never unlocks. */
  readonly woken?: number;
  /** Whether all who waited when cancelAll began must leave, though the owner never unlocks. */
  readonly asked?: boolean;
  /** How many overtakings of a turn are left at the end, if a thread has waited. */
  readonly turn?: number;
  readonly forgets?: boolean;
  readonly preemptions?: number;
  /** Whether two states that differ only in how far the counters have come count as the same state. */
  readonly relative?: boolean;
}

export function mutexModel(line: MutexLine): Model {
  const parts = partsOf(line.program);
  const programs = parts.map((part) => part.split(/\s+/).filter(Boolean).map(mutexOp));
  const asks = line.program.includes('K');
  const named = line.locked ?? line.head ?? line.woken;
  // A request that cancels leaves its element behind, and takes another one. A promise has an element, and its thread
  // has a second spare.
  const timed = (line.program.match(asks ? /[BatL]/g : /[Bat]/g) ?? []).length;
  const stays = line.woken !== undefined || line.asked === true;
  return {
    name: `mutex: ${line.name}`,
    programs,
    ...(named === undefined && !/[DK!]/.test(line.program) ? { symmetric: parts } : {}),
    arena: {
      buckets: line.buckets ?? 1,
      ...(line.full ? { objects: 1 } : {}),
      elements: programs.length + (line.extra ?? timed),
      attached: programs.length,
    },
    ...(line.mortal === undefined ? {} : { deaths: line.deaths ?? 1, mortal: line.mortal }),
    ...(line.asleep === undefined ? {} : { asleep: line.asleep }),
    mayWait: stays,
    leaves: stays,
    ...(line.program.includes('!') ? { cuts: 1 } : {}),
    asks,
    undead: line.undead ?? false,
    long: line.long ?? false,
    ...(line.preemptions === undefined ? {} : { preemptions: line.preemptions }),
    forgets: line.forgets ?? false,
    relative: line.relative ?? false,
    learns: line.learns ?? false,
    aged: line.aged ?? false,
    wrote: (scene, t, address, before) => wrote(scene, t, address, before, line.bound ?? line.bypass),
    end: (scene) => {
      if (line.asked) checkLeft(scene);
      else if (line.woken === undefined) checkWord(scene);
      else checkWoken(scene, line.woken);
      if (line.learns) checkLearnt(scene);
      if (line.turn !== undefined) checkLimit(scene, line.turn);
    },
    objects: (scene) => {
      const m = scene.semaphore({
        permits: 1,
        kind: constant('KIND_MUTEX'),
        max: line.bypass,
        spin: line.spin ?? 0,
        robust: true,
        ...(line.relative ? { first: BigInt(TICKETS) } : {}),
      });
      if (line.locked !== undefined) {
        scene.callNow(line.locked, 'lock', m);
        if (!line.free) scene.set(line.locked, HAS, 1);
      }
      if (line.head !== undefined) {
        scene.callNow(line.head, 'lock', m);
        scene.callNow(line.head, 'queue', m, scene.attachment(line.head, 0));
        if (line.free) scene.callNow(line.locked ?? 0, 'unlock', m);
        if (line.dead) scene.kill(line.head);
        else scene.set(line.head, WAITS, 1);
      }
      if (line.count !== undefined) {
        scene.machine.hostStore32(m + M_WORD + 4, line.count << COUNT_BIT);
        scene.machine.hostStore32(m + M_LIMIT, line.count);
      }
      if (line.relative) {
        scene.machine.hostStore32(m + M_WORD + 4, OVERTAKINGS << COUNT_BIT);
        scene.machine.hostStore32(m + M_LIMIT, OVERTAKINGS);
        scene.machine.hostStore32(m + M_TURN, OVERTAKINGS);
        for (const t of scene.threadNumbers) setGuess(scene, t, OVERTAKINGS);
      }
      if (line.limit !== undefined) scene.machine.hostStore32(m + M_LIMIT, line.limit);
      if (line.over !== undefined) {
        scene.machine.hostStore32(m + M_TURN, line.over);
        // Otherwise compete would set the turn and the limit.
        scene.clear(line.head ?? 0, 'mutex/limitUnset');
      }
      if (line.pace !== undefined) scene.machine.hostStore32(m + M_PACE, line.pace);
    },
  };
}
