/** The objects of a session of which a handle is open, or which are in use. */
import { describe, differs, disposed, SharedObject } from './object.js';
import type { Sender } from './operation.js';
import * as wire from './wire.js';

export class Objects {
  readonly #sender: Sender;
  readonly #objects = new Map<string, SharedObject>();

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Opens an object, or makes it. The handles of one name share it, but for ephemeral ones: the server forgets these. */
  async open(name: string, settings: wire.Settings): Promise<SharedObject> {
    if (settings.ephemeral) return new SharedObject(name, settings);
    const known = this.#objects.get(name);
    if (known) {
      const { resized, max } = known.settings;
      const asked = resized && settings.kind === 's' ? { ...settings, max } : settings;
      if (describe(known.settings) !== describe(asked)) throw differs(name, settings, known.settings);
    }
    const object = known ?? new SharedObject(name, settings);
    const error = this.opened(object, await this.#sender.operate(wire.open(name, object.settings)));
    if (error) throw error;
    object.openedIn = this.#sender.place;
    if (known) return known;
    // Somebody else here may have opened it meanwhile.
    const first = this.#objects.get(name) ?? object;
    this.#objects.set(name, first);
    return first;
  }

  /** Takes the answer to what opens an object. Returns the error if it exists with other settings. */
  opened(object: SharedObject, answer: unknown): Error | undefined {
    const opened = wire.openedIn(answer);
    if (opened.others) return differs(object.name, object.settings, opened.others);
    if (opened.max !== undefined) object.resize(opened.max);
    if (!object.settings.ephemeral) object.born = opened.born;
    return undefined;
  }

  /** Opens it with the next request, if the server may not know it. */
  openFirst(object: SharedObject): void {
    const { place } = this.#sender;
    if (!object.settings.ephemeral && object.openedIn === place) return;
    object.openedIn = place;
    object.born = wire.NONE;
    const opened = (answer: unknown): void => {
      object.broken ??= this.opened(object, answer);
    };
    // What is wrong, the request hears.
    this.#sender.send(wire.open(object.name, object.settings), opened, () => {});
  }

  /** Disposes of the object. Its handles here are of no use from now on, also in a later session, which would make it anew. */
  async dispose(object: SharedObject): Promise<void> {
    const { name } = object;
    object.broken = disposed(object);
    // Who opens the name from now on gets another object, also before the server has answered.
    const wasKnown = this.#objects.get(name) === object && this.#objects.delete(name);
    try {
      // It may be sent twice, and must not dispose of the next object of the name. An ephemeral one is asked which it is.
      let born: string | undefined = object.born;
      if (born === wire.NONE) born = wire.inspectedIn(await this.#sender.operate(wire.inspect(name)))?.object.born;
      if (born) while ((await this.#sender.operate(wire.dispose(name, born))) === wire.LEFT);
    } catch (error) {
      object.broken = undefined;
      if (wasKnown && !this.#objects.has(name)) this.#objects.set(name, object);
      throw error;
    }
  }

  /** What was sent may not have arrived. */
  lost(): void {
    for (const object of this.#objects.values()) if (object.born === wire.NONE) object.openedIn = '';
  }
}
