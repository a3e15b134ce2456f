/** The host of browsers: nothing is inherited, and an open page needs nothing to stay alive. */
import type { Host } from '../engine/host.js';

export const host: Host = {
  isMainThread: typeof document !== 'undefined',
  inherited: () => undefined,
  bequeath: () => {},
  keepAlive: () => {},
  onExit: () => {},
};
