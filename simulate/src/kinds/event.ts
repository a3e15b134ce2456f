/** Event: when a thread sets the event, all waits end. When a thread resets the event, later calls wait again. */
import type { Call } from '../call.js';
import type { Realm } from '../realm.js';
import { type Kind, type Kinds, plainly } from './parts/kind.js';
import { PhaseGhost, phaseOperations } from './parts/phase.js';

class EventGhost extends PhaseGhost {
  /**
   * Whether the event is set. Undefined if calls that set it and calls that reset it were under way at the same time.
   */
  #isSet: boolean | undefined = false;
  #setting = 0;
  #resetting = 0;
  #isMixed = false;

  protected get mayBeOpen(): boolean {
    return this.#isSet !== false || this.#setting > 0;
  }

  protected get isOpen(): boolean {
    return this.#isSet === true && this.#resetting === 0;
  }

  sets(thread: Realm, isSet: boolean): void {
    const object = this.objectOf(thread);
    const more = (n: number): void => {
      if (isSet) this.#setting += n;
      else this.#resetting += n;
      if (this.#setting > 0 && this.#resetting > 0) this.#isMixed = true;
    };
    this.changes(thread, () => (isSet ? object.set() : object.reset()), {
      begins: () => more(1),
      ends: () => {
        more(-1);
        this.#isSet = this.#isMixed ? undefined : isSet;
        if (this.#setting + this.#resetting === 0) this.#isMixed = false;
      },
    });
  }

  protected open(thread: Realm): void {
    this.sets(thread, true);
  }

  protected wrong(thread: Realm): string | undefined {
    const { isSet } = this.objectOf(thread);
    return this.#isSet === undefined || isSet === this.#isSet ? undefined : `isSet is ${isSet}`;
  }
}

const sets = (call: Call, isSet: boolean): void => (call.ghost as EventGhost).sets(call.thread, isSet);

const event: Kind = {
  draw: plainly,
  make: ({ Event }, _spec, arena) => new Event({ arena }),
  ghost: (stage, on) => new EventGhost(stage, on),
  outlives: () => false,
  operations: {
    ...phaseOperations,
    set: { weight: 4, draw: plainly, run: (call) => sets(call, true) },
    reset: { weight: 3, draw: plainly, run: (call) => sets(call, false) },
  },
};

export const kinds: Kinds = { Event: event };
