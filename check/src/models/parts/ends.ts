/** What a thread notes when it has attached to both ends of a channel or a watch, as src/channel/end.ts does. */
import { constant, ELEMENT_SIZE } from '../../scene/layout.js';
import type { Scene } from '../../scene/scene.js';

const PEER = constant('E_PEER');

/** Notes in each of two attachments of a thread, to the two ends, where the other one is. */
export function joinEnds(scene: Scene, one: number, other: number): void {
  const record = (attachment: number): number => scene.regions.elements + (attachment - 1) * ELEMENT_SIZE;
  scene.machine.hostStore32(record(one) + PEER, other - 1);
  scene.machine.hostStore32(record(other) + PEER, one - 1);
}
