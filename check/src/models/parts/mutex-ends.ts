/** Checks at the end of a mutex's models: its words, and whether deaths and dispose have been reported. */
import { Violation } from '../../engine/search/violation.js';
import { constant, O_LIFE, TICKET } from '../../scene/layout.js';
import type { Scene } from '../../scene/scene.js';
import { COUNT_BIT, HAS, M_WORD, mutex } from './mutex-words.js';

const O_UNREPORTED_DEATHS = constant('O_UNREPORTED_DEATHS');
/** The state in the life of a disposed object (core/arena/objects.ts). */
const DISPOSED = 3;
const M_LIMIT = constant('M_LIMIT');
const M_OWNER_DIED = constant('M_OWNER_DIED');
const M_CLOSED = constant('M_CLOSED');

export function checkWord(scene: Scene): void {
  const at = (mutex(scene) + M_WORD) >> 2;
  const low = scene.machine.words[at] & ~M_OWNER_DIED;
  if (scene.closed(0)) {
    if ((low & M_CLOSED) === 0) throw new Violation('a mutex is disposed of, and its word not closed');
    return;
  }
  for (let t = 0; t < scene.threads; t++) if (!scene.dead(t) && scene.get(t, HAS) === 1) return;
  if (low !== 0 || (scene.machine.words[at + 1] & ((1 << COUNT_BIT) - 1)) !== 0)
    throw new Violation(`the word ends as 0x${(low >>> 0).toString(16)}`);
}

/** Checks that `turn` overtakings are left of the last turn, if any thread has waited. */
export function checkLimit(scene: Scene, turn: number): void {
  const m = mutex(scene);
  const word = (address: number): number => scene.machine.words[address >> 2] as number;
  const left = word(m + M_LIMIT) - (word(m + M_WORD + 4) >> COUNT_BIT);
  if (word(m + TICKET) !== 0 && left !== turn)
    throw new Violation(`${left} overtakings are left of the last turn, not ${turn}`);
}

/**
 * Checks that all deaths of owners are reported if the word no longer says that an owner has died. The thread that
 * takes this mark off the word must learn of all deaths.
 */
export function checkLearnt(scene: Scene): void {
  const word = (offset: number): number => scene.machine.words[(mutex(scene) + offset) >> 2] as number;
  if ((word(M_WORD) & M_OWNER_DIED) === 0 && word(O_UNREPORTED_DEATHS) !== 0)
    throw new Violation(`nobody learns that ${word(O_UNREPORTED_DEATHS)} owners have died`);
}

export function checkWoken(scene: Scene, who: number): void {
  const state = (scene.machine.words[(mutex(scene) + O_LIFE) >> 2] as number) >>> 24;
  if (state === DISPOSED && !scene.finished(who)) throw new Violation(`thread ${who} is not woken`);
}
