/**
 * Worlds of check/deaths.ts: whoever asks is never told that a process holds which has been dead for longer than a
 * lease. Each rule of the client by which this is so is left out once, and then the worlds must find it.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { type DeathPlan, deathPlans, playDeath } from '../check/deaths.js';
import { Lease } from '../src/session/lease.js';
import { Session } from '../src/session/session.js';
import { WHOLE } from './each-server.js';

const PLANS = deathPlans(WHOLE ? 20 : roundsInCi(2, 1));

afterEach(() => void vi.restoreAllMocks());

async function faultsOf(plans: readonly DeathPlan[]): Promise<string[]> {
  const faults: string[] = [];
  for (const plan of plans) {
    const fault = await playDeath(plan);
    if (fault) faults.push(`${JSON.stringify(plan)}: ${fault}`);
  }
  return faults;
}

test.each(['idle', 'comes', 'returns'])(
  'a dead holder is free for who asks and %s',
  { timeout: 600_000 },
  async (who) => {
    const plans = PLANS.filter((plan) => plan.who === who);
    expect(plans.length).toBeGreaterThan(50);
    expect(await faultsOf(plans)).toEqual([]);
  },
);

test('the worlds find it if an idle session does not watch', async () => {
  const beaten = Session.prototype.beaten;
  vi.spyOn(Session.prototype, 'beaten').mockImplementation(function (this: Session, ...args) {
    beaten.apply(this, args);
    if (this.isNeeded) return;
    this.beats.stop();
    this.lease.end();
  });
  const plans = PLANS.filter(({ who, seed }) => who === 'idle' && seed === 1);
  expect(await faultsOf(plans)).not.toEqual([]);
});

test('the worlds find it if an old sign counts for who enters', async () => {
  vi.spyOn(Lease.prototype, 'seenLately', 'get').mockImplementation(function (this: Lease) {
    return this.seen;
  });
  const plans = PLANS.filter(({ who, seed }) => who === 'returns' && seed === 1);
  expect(await faultsOf(plans)).not.toEqual([]);
});
