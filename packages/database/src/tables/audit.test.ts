import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeBundle } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('knows the objects of bundles and of those that were superseded', async () => {
  const { audit, bundles } = open.database;
  const first = makeBundle('logs', 0, 9);
  const second = makeBundle('logs', 10, 19);
  await bundles.publish(first);
  await bundles.publish(second);
  const repaired = { ...first, sha256: 'ab'.repeat(32), objectKey: 'main/logs/0-9.v2.json.gz' };
  await bundles.supersede(repaired, { replaces: first.sha256, reason: 'a test' });
  expect(await audit.knownKeys('main', 'logs', [0, 5, 10, 20])).toEqual(
    new Set([first.objectKey, repaired.objectKey, second.objectKey]),
  );
  expect(await audit.knownKeys('main', 'logs', [10])).toEqual(new Set([second.objectKey]));
  expect(await audit.knownKeys('main', 'traces', [0])).toEqual(new Set());
  expect(await audit.knownKeys('nowhere', 'logs', [0])).toEqual(new Set());
  expect(await audit.superseded('main')).toEqual([{ kind: 'logs', count: 1 }]);
  expect(await audit.superseded('nowhere')).toEqual([]);
});

it('remembers the last audit of a network, and of no other', async () => {
  const { audit } = open.database;
  expect(await audit.last('main')).toBeNull();
  const run = {
    network: 'main',
    finishedAt: new Date(1_000),
    bundles: 3,
    bytesRead: 6_000_000_000,
    findings: 0,
  };
  await audit.note(run);
  expect(await audit.last('main')).toEqual(run);
  await audit.note({ ...run, finishedAt: new Date(2_000), findings: 1 });
  expect(await audit.last('main')).toEqual({ ...run, finishedAt: new Date(2_000), findings: 1 });
  expect(await audit.last('nowhere')).toBeNull();
  await expect(audit.note({ ...run, network: 'nowhere' })).rejects.toMatchObject({ code: 'NETWORK_UNKNOWN' });
});
