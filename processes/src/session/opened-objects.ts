/**
 * The objects that a session has opened: how they are opened, opened again and disposed of.
 *
 * The server may forget an object: in a failover, or, if the object is ephemeral, while it is idle. So the operation
 * `N`, which opens or makes the object, goes before a request for an ephemeral object, and before a request for an
 * object that this session has not opened in the present history of the data.
 */

import * as wire from '../script/wire.js';
import type { Sender } from './operation.js';
import { differs, disposed, SharedObject } from './shared-object.js';

export class Objects {
  readonly #sender: Sender;
  /** The objects by name, without ephemeral ones. */
  readonly #objects = new Map<string, SharedObject>();

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Opens an object, or makes it. All handles of one object share one `SharedObject`. Each handle of an ephemeral object
   * has its own, because the number of names may have no limit, and this class would keep them all.
   */
  async open(name: string, settings: wire.Settings): Promise<SharedObject> {
    const object = new SharedObject(name, settings);
    if (settings.ephemeral) return object;
    const before = this.#objects.get(name);
    // If the server may have forgotten the semaphore, it gets the size again that somebody has given it.
    if (before?.settings.resized && settings.kind === 's' && before.openedIn !== this.#sender.place)
      object.resize(before.settings.max);
    const error = this.opened(object, await this.#sender.calls.operate(wire.open(name, object.settings)));
    if (error) throw error;
    object.openedIn = this.#sender.place;
    // Another ticket is another object: somebody has disposed of the one that is known, or the server has forgotten it.
    const known = this.#objects.get(name);
    if (known?.born === object.born)
      return Object.assign(known, { settings: object.settings, openedIn: object.openedIn });
    this.#objects.set(name, object);
    return object;
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

  /** Opens the object before the next request is sent, if the server may not know the object. */
  openFirst(object: SharedObject): void {
    const { place } = this.#sender;
    if (!object.settings.ephemeral && object.openedIn === place) return;
    object.openedIn = place;
    object.born = wire.NONE;
    const opened = (answer: unknown): void => {
      object.broken ??= this.opened(object, answer);
    };
    // If the operation fails, the request that follows in the same call fails too, and tells its caller.
    this.#sender.calls.send(wire.open(object.name, object.settings), opened, () => {});
  }

  /**
   * Disposes of the object. From now on all calls of its handles in this process fail. Without this, a later session
   * would make the object anew for them.
   */
  async dispose(object: SharedObject): Promise<void> {
    const { name } = object;
    object.broken = disposed(object);
    // From now on, whoever opens the name gets another object, even before the server has answered.
    const wasKnown = this.#objects.get(name) === object && this.#objects.delete(name);
    try {
      // The operation may be sent twice, and the second time it must not dispose of the next object of the name. So the
      // operation says with which ticket the object was made. If this process does not know the ticket, as with an
      // ephemeral object, it first asks the server.
      let born: string | undefined = object.born;
      if (born === wire.NONE)
        born = wire.inspectedIn(await this.#sender.calls.operate(wire.inspect(name)))?.object.born;
      if (born) while ((await this.#sender.calls.operate(wire.dispose(name, born))) === wire.LEFT);
    } catch (error) {
      object.broken = undefined;
      if (wasKnown && !this.#objects.has(name)) this.#objects.set(name, object);
      throw error;
    }
  }

  /** Is called when operations that were sent may not have arrived. Objects that were being opened are opened again. */
  lost(): void {
    for (const object of this.#objects.values()) if (object.born === wire.NONE) object.openedIn = '';
  }
}
