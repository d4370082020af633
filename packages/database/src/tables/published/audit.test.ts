import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeBundle } from '../../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('knows the objects of bundles and of those that were superseded', async () => {
  const first = makeBundle('logs', 0, 9);
  const second = makeBundle('logs', 10, 19);
  await open.main.bundles.publish(first);
  await open.main.bundles.publish(second);
  const repaired = { ...first, sha256: 'ab'.repeat(32), objectKey: 'main/logs/0-9.v2.json.gz' };
  await open.main.bundles.supersede(repaired, { replaces: first.sha256, reason: 'a test' });
  expect(await open.main.audit.knownKeys('logs', [0, 5, 10, 20])).toEqual(
    new Set([first.objectKey, repaired.objectKey, second.objectKey]),
  );
  expect(await open.main.audit.knownKeys('logs', [10])).toEqual(new Set([second.objectKey]));
  expect(await open.main.audit.knownKeys('traces', [0])).toEqual(new Set());
  expect(await open.database.network('nowhere').audit.knownKeys('logs', [0])).toEqual(new Set());
  expect(await open.main.audit.superseded()).toEqual([{ kind: 'logs', count: 1 }]);
  expect(await open.database.network('nowhere').audit.superseded()).toEqual([]);
});

it('remembers the last audit of a network, and of no other', async () => {
  expect(await open.main.audit.last()).toBeNull();
  const run = {
    network: 'main',
    finishedAt: new Date(1_000),
    bundles: 3,
    bytesRead: 6_000_000_000,
    findings: 0,
  };
  await open.main.audit.note(run);
  expect(await open.main.audit.last()).toEqual(run);
  await open.main.audit.note({ ...run, finishedAt: new Date(2_000), findings: 1 });
  expect(await open.main.audit.last()).toEqual({ ...run, finishedAt: new Date(2_000), findings: 1 });
  expect(await open.database.network('nowhere').audit.last()).toBeNull();
  await expect(open.database.network('nowhere').audit.note({ ...run })).rejects.toMatchObject({
    code: 'NETWORK_UNKNOWN',
  });
});
