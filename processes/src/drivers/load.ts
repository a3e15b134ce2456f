/**
 * Loads the drivers for a server, so that a process which has no server does not load them. webpack puts all of it into
 * one file (`eager`), because its chunks for Node are no modules.
 */
import { type Checked, checkSpaceOptions, type SpaceOptions } from '../options.js';
import type { Driver, Script } from './driver.js';

/** The driver for a client of a server, the script that a server of Valkey or Redis runs, and the checked options. */
export async function driverFor(client: unknown, options: SpaceOptions): Promise<[Driver, Script, Checked]> {
  const [{ driverOf, isOfPostgres }, { TURN }] = await Promise.all([
    import(/* webpackMode: "eager" */ './recognise.js'),
    import(/* webpackMode: "eager" */ '../script/turn-source.js'),
  ]);
  const checked = checkSpaceOptions(options, isOfPostgres(client));
  return [driverOf(client, checked), TURN, checked];
}
