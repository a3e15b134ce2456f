/** Tells whether another history of the data means a failover. */
import type { Surroundings } from './surroundings.js';

/**
 * Tells the listeners of a failover, unless a slot of a cluster has moved: then the server has run all the time, and
 * was no replica of the earlier server. key: lies in the slot. before: the earlier history, as epoch.id. silence: how
 * many milliseconds ago the earlier server was last heard of. isOver: nobody listens any more.
 */
export async function tellFailover(
  { driver, whenConnected, clock, emit }: Surroundings,
  key: string,
  before: string,
  silence: number,
  isOver: () => boolean,
): Promise<void> {
  const ask = async (): Promise<Map<string, string> | undefined> => {
    await whenConnected();
    // The next slot may be moving already.
    const again = async (): Promise<Map<string, string> | undefined> => {
      if (isOver()) return undefined;
      await new Promise<void>((resolve) => clock.after(10, resolve, false));
      return ask();
    };
    return driver.info(key, 'default').catch(again);
  };
  const info = driver.cluster ? await ask().catch(() => undefined) : undefined;
  const hasRunOn = Number(info?.get('uptime_in_seconds')) * 1000 > silence;
  if (!hasRunOn || before.endsWith(`.${info?.get('master_replid2')}`)) emit('failover');
}
