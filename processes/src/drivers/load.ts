/**
 * Loads the drivers for a server, so that a process which has no server does not load them. webpack puts all of it into
 * one file (`eager`), because its chunks for Node are no modules.
 */
import type { Driver, Script } from './driver.js';

/** The driver for a client of Valkey or Redis, and the script that the server runs. */
export async function driverFor(client: unknown): Promise<[Driver, Script]> {
  const [{ driverOf }, { TURN }] = await Promise.all([
    import(/* webpackMode: "eager" */ './recognise.js'),
    import(/* webpackMode: "eager" */ '../script/turn-source.js'),
  ]);
  return [driverOf(client), TURN];
}
