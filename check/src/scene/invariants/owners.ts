/**
 * The invariants of owners: the records say what threads hold of a robust semaphore or of a mutex, and each owner that
 * dies is counted once.
 */
import { Violation } from '../../engine/search/violation.js';
import { constant, E_HELD, ELEMENT_SIZE, O_DEATHS } from '../layout.js';
import type { Scene } from '../scene.js';
import { GOT, READY } from '../words.js';

const O_UNREPORTED_DEATHS = constant('O_UNREPORTED_DEATHS');
const O_KIND = constant('O_KIND');
const HAS_HEAD = constant('HAS_HEAD');
const HOLDS = constant('HOLDS');
const M_WORD = constant('M_WORD');
const M_OWNER = constant('M_OWNER');

function wordOf({ machine }: Scene, address: number): number {
  return machine.words[address >> 2];
}

/** Whether the kind of an object has a trait (core/kinds/words.ts). */
function has(scene: Scene, object: number, trait: number): boolean {
  return (wordOf(scene, object + O_KIND) & trait) !== 0;
}

/**
 * Updates the ghosts when thread t dies. The permits that t holds of a robust semaphore no longer count as held, since
 * they will go back. The permits that t holds of any other semaphore are lost, so they count as held for ever. Of the
 * first semaphore, t may hold `unreported` more permits, of which the scene does not know yet.
 */
export function ownerDies(scene: Scene, t: number, unreported: number): void {
  const { ghosts } = scene;
  for (const [s, address] of scene.semaphores.entries()) {
    const attachment = scene.robust(t, s);
    if (attachment === 0) {
      ghosts.setHeld(s, ghosts.held(s) + (s === 0 ? unreported : 0));
    } else if (has(scene, address, HAS_HEAD)) {
      if ((wordOf(scene, address + M_WORD) & M_OWNER) === t + 1) ghosts.ownerDies(s);
    } else {
      let holds = scene.get(t, GOT + s) + scene.permits.givingBack(t, s);
      if (s === 0) for (let list = scene.get(t, READY); list !== 0; list >>>= 4) holds += list & 15;
      ghosts.setHeld(s, ghosts.held(s) - holds);
      const record = scene.regions.elements + (attachment - 1) * ELEMENT_SIZE;
      // A thread that dies with a notification of a condition does not count as an owner that died.
      if (wordOf(scene, record + E_HELD) !== 0 && has(scene, address, HOLDS)) ghosts.ownerDies(s);
    }
  }
}

/** Checks, at the end, that the death of every owner has been counted, and would be reported by the next acquire. */
export function checkDeaths(scene: Scene): void {
  for (const [s, address] of scene.semaphores.entries()) {
    const deaths = wordOf(scene, address + O_DEATHS);
    if (!scene.isRobust(s)) continue;
    const died = scene.ghosts.ownersDied(s);
    if (deaths !== died) throw new Violation(`${died} owners have died, and ${deaths} are counted`);
    const unreported = wordOf(scene, address + O_UNREPORTED_DEATHS);
    if (deaths !== unreported && !scene.model.learns)
      throw new Violation(`${deaths} owners have died, and the next acquire would report ${unreported}`);
  }
}

/** Checks, at the end, that the records of an object (`held`) say how many permits of the object threads hold. */
export function checkHeld(scene: Scene, object: number, held: number): void {
  const s = scene.semaphores.indexOf(object);
  if (has(scene, object, HAS_HEAD)) {
    if (held !== 0) throw new Violation(`${held} are said to be the head at the end`);
  } else if (!has(scene, object, HOLDS)) {
    if (held !== 0) throw new Violation(`${held} notifications are carried at the end`);
  } else if (s >= 0 && scene.isRobust(s) && held !== scene.ghosts.held(s))
    throw new Violation(`${scene.ghosts.held(s)} permits are held, and ${held} recorded`);
}
