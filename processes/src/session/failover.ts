/** Decides whether a new history of the data means a failover. */
import type { Surroundings } from './surroundings.js';

/**
 * Emits `failover`, unless the history is new only because the slot has moved to another server of the cluster. The
 * slot has moved if the server that answers now has run all the time and was no replica of the earlier server. key: a
 * key that lies in the slot.
 * before: the earlier history, as `Sign.place`. silence: how many milliseconds ago the earlier server was last heard
 * of. isOver: whether the session has ended, so that nobody needs the event.
 */
export async function tellFailover(
  { driver, whenConnected, clock, emit }: Surroundings,
  key: string,
  before: string,
  silence: number,
  isOver: () => boolean,
): Promise<void> {
  let info: Map<string, string> | null | undefined;
  try {
    while (driver.cluster) {
      await whenConnected();
      // `INFO` fails if the slot moves once more while the process asks. Then the process asks again.
      info = await driver.info(key, 'default').catch(() => null);
      if (info !== null || isOver()) break;
      await new Promise<void>((resolve) => clock.after(10, resolve, false));
    }
  } catch {
    // The driver has given up to connect.
  }
  const hasRunOn = Number(info?.get('uptime_in_seconds')) * 1000 > silence;
  if (!hasRunOn || before.endsWith(`.${info?.get('master_replid2')}`)) emit('failover');
}
