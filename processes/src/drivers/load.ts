/**
 * Loads the drivers for a server, so that a process which has no server does not load them. webpack puts all of it into
 * one file (`eager`), because its chunks for Node are no modules.
 */
import type { EngineOptions } from '../options.js';
import type { Driver, Script } from './driver.js';

/** The driver for a client of a server, and the script that a server of Valkey or Redis runs. */
export async function driverFor(client: unknown, options: EngineOptions): Promise<[Driver, Script]> {
  const [{ driverOf }, { TURN }] = await Promise.all([
    import(/* webpackMode: "eager" */ './recognise.js'),
    import(/* webpackMode: "eager" */ '../script/turn-source.js'),
  ]);
  return [driverOf(client, options), TURN];
}
