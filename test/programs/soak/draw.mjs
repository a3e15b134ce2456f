import { random } from '../workers/chaos-board.mjs';

/** Random numbers of one thread or task. */
export class Draw {
  constructor(seed) {
    this.next = random(seed);
    for (let i = 0; i < 4; i++) this.next();
  }

  chance(p) {
    return this.next() < p;
  }

  /** From 0 to n - 1. */
  upTo(n) {
    return Math.floor(this.next() * n);
  }

  of(list) {
    return list[this.upTo(list.length)];
  }
}
