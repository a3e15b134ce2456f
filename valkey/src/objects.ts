/** The objects of a session that are in use, or that have an open handle. */
import { describe, differs, disposed, SharedObject } from './object.js';
import type { Sender } from './operation.js';
import * as wire from './wire.js';

export class Objects {
  readonly #sender: Sender;
  readonly #objects = new Map<string, SharedObject>();

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Opens an object, or makes it. The handles of one name share the object, unless it is ephemeral: the server forgets
   * those.
   */
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
    // Another call of this process may have opened the object meanwhile.
    const first = this.#objects.get(name) ?? object;
    this.#objects.set(name, first);
    return first;
  }

  /**
   * Takes the answer to an operation that opens an object. Returns the error if the object exists with other settings.
   */
  opened(object: SharedObject, answer: unknown): Error | undefined {
    const opened = wire.openedIn(answer);
    if (opened.others) return differs(object.name, object.settings, opened.others);
    if (opened.max !== undefined) object.resize(opened.max);
    if (!object.settings.ephemeral) object.born = opened.born;
    return undefined;
  }

  /** Opens the object with the next request, if the server may not know it. */
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

  /**
   * Disposes of the object. From now on its handles here are of no use, also in a later session, which would make it
   * anew.
   */
  async dispose(object: SharedObject): Promise<void> {
    const { name } = object;
    object.broken = disposed(object);
    // From now on, whoever opens the name gets another object, even before the server has answered.
    const wasKnown = this.#objects.get(name) === object && this.#objects.delete(name);
    try {
      // The operation may be sent twice, and must not dispose of the next object of the name. If the object is
      // ephemeral, the server is asked which object it is.
      let born: string | undefined = object.born;
      if (born === wire.NONE) born = wire.inspectedIn(await this.#sender.operate(wire.inspect(name)))?.object.born;
      if (born) while ((await this.#sender.operate(wire.dispose(name, born))) === wire.LEFT);
    } catch (error) {
      object.broken = undefined;
      if (wasKnown && !this.#objects.has(name)) this.#objects.set(name, object);
      throw error;
    }
  }

  /** The operations that were sent may not have arrived. */
  lost(): void {
    for (const object of this.#objects.values()) if (object.born === wire.NONE) object.openedIn = '';
  }
}
