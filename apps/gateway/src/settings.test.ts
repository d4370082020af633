import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { gatewaySettings, hasPublicMetrics } from './settings.js';

const REQUIRED = {
  DATABASE_URL: 'postgres://host/db',
  NETWORKS_FILE: 'networks.yaml',
  OBJECT_STORE: 'objects',
};

it('docs/settings.md has every variable of a gateway with its default', () => {
  const page = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const section = page.split('## Gateway\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^- `([A-Z0-9_]+)`(?: \((.*?)\))?: /gm)].map(
    ([, name = '', told = '']) => [name, told] as const,
  );
  expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(gatewaySettings.shape).sort());
  expect(rows.filter(([, told]) => told === 'required').map(([name]) => name)).toEqual(
    expect.arrayContaining(Object.keys(REQUIRED)),
  );
  // Setting a documented default changes nothing.
  const defaults = rows.flatMap(([name, told]) =>
    /^`[^`]*`$/.test(told) ? [[name, told.slice(1, -1)]] : [],
  );
  expect(defaults.length).toBeGreaterThan(10);
  expect(gatewaySettings.parse({ ...REQUIRED, ...Object.fromEntries(defaults) })).toEqual(
    gatewaySettings.parse(REQUIRED),
  );
});

it.each([
  [undefined, undefined],
  ['2', 2],
  ['10.0.0.0/8, loopback', ['10.0.0.0/8', 'loopback']],
  ['fd00::/8,192.0.2.1', ['fd00::/8', '192.0.2.1']],
])('reads %j', (text, value) => {
  expect(gatewaySettings.shape.TRUST_PROXY.parse(text)).toEqual(value);
});

it.each(['0', '17', 'true', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/8/8', 'proxy.example.com', ','])(
  'refuses %j',
  (text) => {
    expect(gatewaySettings.shape.TRUST_PROXY.safeParse(text).success).toBe(false);
  },
);

it.each([
  [{ HOST: '0.0.0.0' }, false],
  [{ HOST: '127.0.0.1' }, true],
  [{ HOST: '0.0.0.0', PUBLIC_METRICS: 'open' }, true],
  [{ HOST: '127.0.0.1', PUBLIC_METRICS: 'closed' }, false],
])('has public metrics where %j: %j', (env, open) => {
  expect(hasPublicMetrics(gatewaySettings.parse({ ...REQUIRED, ...env }))).toBe(open);
});
