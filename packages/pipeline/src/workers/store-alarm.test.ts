import { createDatabase } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { openObjectStore } from '@packhouse/object-store';
import { type Context, createLogger, createMetrics, PackhouseError, systemClock } from '@packhouse/runtime';
import { type ScriptedS3Fault, startScriptedS3 } from '@packhouse/scripted-s3';
import { expect, inject, test } from 'vitest';
import { createStoreAlarm } from './store-alarm.js';

test('the alarm says what the store refuses, and is cleared when it works again', async () => {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const running = new AbortController();
  const context: Context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(20, signal) },
    signal: running.signal,
  };
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  await database.networks.register({ id: 'main', chainId: 1 });
  let fault: ScriptedS3Fault | undefined;
  const s3 = await startScriptedS3({ onRequest: () => fault });
  const credentials = { accessKeyId: s3.accessKeyId, secretAccessKey: 'hunter2-hunter2' };
  const objectStore = await openObjectStore(`s3://${s3.bucket}`, {
    endpoint: s3.endpoint,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  });
  const parts = { context, database, objectStore, networks: () => ['main'], role: 'packer' as const };
  const open = async (): Promise<string[]> =>
    (await database.network('main').alarms.list()).map(({ name, message }) => `${name} ${message}`);

  const alarm = createStoreAlarm(parts);
  fault = 'signatureDoesNotMatch';
  const watching = alarm.watch();
  await expect
    .poll(open, { timeout: 30_000 })
    .toEqual([
      expect.stringMatching(
        /^OBJECT_STORE_INVALID s3:\/\/test-bucket at 127\.0\.0\.1:\d+ serves no bundles to a packer: SignatureDoesNotMatch, status 403\. .*AWS_SECRET_ACCESS_KEY\.$/,
      ),
    ]);
  expect(JSON.stringify(await database.alarms.list())).not.toContain('hunter2');
  fault = 'noSuchBucket';
  await expect.poll(open, { timeout: 30_000 }).toEqual([expect.stringContaining('NoSuchBucket')]);
  // A store that is away is another matter.
  fault = 'slowDown';
  await expect.poll(() => s3.requests.splice(0).length, { timeout: 30_000 }).toBeGreaterThan(1);
  expect(await open()).toHaveLength(1);
  fault = undefined;
  await expect.poll(open, { timeout: 30_000 }).toEqual([]);

  // A right to write that is missing: that the probe reads says nothing about it.
  const denied = new PackhouseError({
    code: 'OBJECT_STORE_INVALID',
    message: 'x',
    hint: 'The credentials lack a right.',
    data: { name: 'AccessDenied', status: 403 },
  });
  await alarm.published('main', denied);
  s3.requests.length = 0;
  await expect.poll(() => s3.requests.length, { timeout: 30_000 }).toBeGreaterThan(2);
  expect(await open()).toEqual([
    expect.stringContaining('takes no bundles from a packer: AccessDenied, status 403.'),
  ]);
  await alarm.published('main');
  expect(await open()).toEqual([]);

  // The alarm of a packer that is gone is cleared by the next one.
  await alarm.published('main', denied);
  running.abort(new Error('told to end'));
  await watching;
  await createStoreAlarm(parts).published('main');
  expect(await open()).toEqual([]);

  // Nor does one that the store serves clear the alarm of another that it refuses.
  await createStoreAlarm({ ...parts, role: 'gateway' }).published('main', denied);
  await createStoreAlarm(parts).published('main');
  expect(await open()).toEqual([expect.stringContaining('from a gateway')]);
  await createStoreAlarm({ ...parts, role: 'gateway' }).published('main');
  expect(await open()).toEqual([]);

  await objectStore.close();
  await s3.close();
  await database.close();
  await fresh.drop();
});
