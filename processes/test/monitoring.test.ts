/** The alerts and the dashboard of operations.md: they ask for metrics that there are. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { metrics, prometheus, Space, startMetrics } from '../src/index.js';
import { folder } from './local-processes.js';
import { onServers, until } from './setting.js';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const rules = readFileSync(pathOf('../docs/prometheus-rules.yml'), 'utf8');
const dashboard = readFileSync(pathOf('../docs/grafana-dashboard.json'), 'utf8');

test('each metric and label of the alerts and of the dashboard is exported', async () => {
  const space = await Space.local({ space: 'monitored', directory: folder() });
  onTestFinished(() => space.close());
  startMetrics(space);
  const pool = await space.semaphore('pool', 1);
  await (await pool.holdAsync()).release();
  const exported = prometheus(metrics(space));
  const names = new Set([...exported.matchAll(/^([a-z_]+)(?:\{|\s)/gm)].map(([, name]) => name));
  const labels = new Set(['job', ...[...exported.matchAll(/([a-z_]+)="/g)].map(([, name]) => name)]);
  for (const asking of [rules, dashboard]) {
    const asked = [...asking.matchAll(/\btaketurns_[a-z_]+/g)].map(([name]) => name);
    expect(asked.length).toBeGreaterThan(6);
    expect(asked.filter((name) => !names.has(name) && !labels.has(name))).toEqual([]);
    const by = [...asking.matchAll(/ by \(([^)]+)\)/g)].flatMap(([, all]) => `${all}`.split(/, */));
    expect(by.filter((label) => !labels.has(label))).toEqual([]);
  }
});

test('the dashboard is one that Grafana can read', () => {
  const { title, panels, templating } = JSON.parse(dashboard);
  expect(title).toBe('taketurns-processes');
  expect(templating.list.map(({ name }: { name: string }) => name)).toEqual(['datasource', 'job']);
  expect(new Set(panels.map(({ id }: { id: number }) => id)).size).toBe(panels.length);
  for (const { targets } of panels) {
    for (const { expr } of targets) {
      const text = `${expr}`;
      expect(text.split('(').length).toBe(text.split(')').length);
      for (const [, variable] of text.matchAll(/\$([a-z_]+)/g)) expect(['job', '__rate_interval']).toContain(variable);
    }
  }
});

// On Debian: apt-get install prometheus. TAKETURNS_PROMTOOL names another one.
const promtool = process.env.TAKETURNS_PROMTOOL ?? 'promtool';
test.runIf(spawnSync(promtool, ['--version']).status === 0)(
  'Prometheus reads the alerts, and they come (needs promtool)',
  () => {
    for (const line of [
      ['check', 'rules', '--lint-fatal', pathOf('../docs/prometheus-rules.yml')],
      ['test', 'rules', pathOf('prometheus-rules.test.yml')],
    ]) {
      const { status, stdout, stderr } = spawnSync(promtool, line, { encoding: 'utf8' });
      expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
    }
  },
);

test('what is lost is counted', async () => {
  const space = await Space.local({ space: 'losing', directory: folder() });
  onTestFinished(() => space.close());
  startMetrics(space);
  const mutex = await space.mutex('m');
  await mutex.holdAsync();
  const [holder] = (await mutex.inspect())?.holders ?? [];
  await mutex.revoke(holder?.proof as string);
  const lost = () => metrics(space).find(({ name }) => name === 'taketurns.hold.lost')?.points;
  const attributes = { 'taketurns.object.kind': 'Mutex', 'taketurns.object.name': 'm' };
  await until(() => lost()?.[0]?.value === 1);
  expect(lost()).toEqual([{ attributes, value: 1 }]);
});

onServers(
  'with a server',
  (setting) => {
    test('troubles and failovers are counted', async () => {
      const space = await setting.join();
      startMetrics(space);
      await (await space.mutex('m')).holdAsync();
      await setting.server.restart({ kill: true });
      const count = (name: string) => Number(metrics(space).find((one) => one.name === name)?.points[0]?.value);
      await until(() => count('taketurns.space.troubles') > 0 && count('taketurns.space.failovers') === 1);
    });

    test('a process has as many connections as the page says', async () => {
      const admin = setting.another();
      const connections = async (): Promise<number> =>
        `${await admin.client('LIST')}`.split('\n').filter((line) => line !== '').length;
      const before = await connections();
      for (let i = 0; i < 3; i++) await (await setting.join()).mutex('m');
      expect(await connections()).toBe(before + 3 * 2);
    });
  },
  'first',
);
