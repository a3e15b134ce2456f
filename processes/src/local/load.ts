/** Loads the form without a server, so that a process which has a server does not load it (drivers/load.ts). */
import type { Driver, Script } from '../drivers/driver.js';

/** The driver for the processes of this machine. A broker needs no script. */
export async function localDriverFor(space: string, directory: string | undefined): Promise<[Driver, Script]> {
  const { directoryOf, localDriver } = await import(/* webpackMode: "eager" */ './index.js');
  return [localDriver(() => directoryOf(space, directory)), { text: '', sha: '' }];
}
