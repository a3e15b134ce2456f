/**
 * Loads the code of one form of a space, so that a process that uses one form does not load the other. webpack puts all
 * of it into one file (`eager`), because its chunks for Node are no modules.
 */
import type { Driver, Script } from '../drivers/driver.js';

/** The driver for a client of Valkey or Redis, and the script that the server runs. */
export async function driverFor(client: unknown): Promise<[Driver, Script]> {
  const [{ driverOf }, { TURN }] = await Promise.all([
    import(/* webpackMode: "eager" */ '../drivers/recognise.js'),
    import(/* webpackMode: "eager" */ '../script/turn-source.js'),
  ]);
  return [driverOf(client), TURN];
}

/** The driver for the processes of this machine. A broker needs no script. */
export async function localDriverFor(space: string, directory: string | undefined): Promise<[Driver, Script]> {
  const { directoryOf, localDriver } = await import(/* webpackMode: "eager" */ '../local/index.js');
  return [localDriver(() => directoryOf(space, directory)), { text: '', sha: '' }];
}
