/** The kinds of histories: what happens in each, and which part of the possible permits begins at least. */
import type { HistoryOptions } from './rate-history.js';

export const HISTORIES: Readonly<Record<string, Partial<HistoryOptions> & { readonly least: number }>> = {
  none: { least: 0.9 },
  'an even rate': { burst: 1, least: 0.85 },
  'all at once': { burst: 20, least: 0.9 },
  'many permits': { permits: 1000, burst: 100, per: 500, slack: 50, processes: 16, tasks: 8, least: 0.9 },
  'slow trips': { slow: 50, least: 0.85 },
  'slow trips, all at once': { slow: 100, burst: 20, signals: 50, cuts: 10, deaths: 5, least: 0.85 },
  'trips that are slow at first': {
    ...{ slow: 900, slowUntil: 20_000, processes: 3, tasks: 1, burst: 20, deaths: 2, signals: 20, least: 0.1 },
  },
  'busy processes': { busy: 20, least: 0.85 },
  'signals and time-outs': { signals: 100, timeouts: 100, least: 0.85 },
  deaths: { deaths: 20, least: 0.85 },
  pauses: { pauses: 5, least: 0.5 },
  'permits given back': { returns: 50, least: 0.75 },
  cuts: { cuts: 10, signals: 100, least: 0.85 },
  jumps: { jumps: 5, least: 0.5 },
  losses: { losses: 1, least: 0.5 },
  evictions: { evictions: 20, signals: 200, least: 0.6 },
  // A window is longer than the pause after a loss.
  'losses of long windows': { permits: 200, per: 4000, burst: 200, slack: 400, losses: 2, signals: 50, least: 0.3 },
  failovers: { permits: 200, per: 2000, burst: 100, slack: 400, failovers: 3, least: 0.4 },
  takeovers: { takeovers: 5, cuts: 10, least: 0.1 },
  // The clock jumps by about as long as nobody answers.
  'takeovers and jumps': { takeovers: 20, jumps: 50, longestJump: 3000, least: 0.1 },
  all: {
    slow: 20,
    busy: 10,
    signals: 50,
    timeouts: 50,
    deaths: 5,
    pauses: 1,
    returns: 10,
    cuts: 5,
    jumps: 1,
    least: 0.4,
  },
  'all and losses': { slow: 20, busy: 10, signals: 50, timeouts: 50, deaths: 5, pauses: 1, losses: 1, least: 0.4 },
};
