import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPackhouseError } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openObjectStore } from './open-object-store.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'packhouse-store-'));
});
afterEach(() => rm(directory, { recursive: true }));

it('opens a folder by its path or with disk: before it', async () => {
  for (const [uri, description] of [
    [directory, `disk:${directory}`],
    [`disk:${directory}/a`, `disk:${directory}/a`],
    [`${directory}/b/../c/`, `disk:${directory}/c`],
  ] as const) {
    const store = await openObjectStore(uri);
    expect(store.description).toBe(description);
    await store.close();
  }
});

it('opens a bucket, with a prefix or none, at Amazon or elsewhere', async () => {
  for (const [uri, endpoint, description] of [
    ['s3://bucket', undefined, 's3://bucket'],
    ['s3://bucket/', undefined, 's3://bucket'],
    ['s3://my.bucket-1/some/prefix/', undefined, 's3://my.bucket-1/some/prefix'],
    ['S3://bucket/prefix', 'http://localhost:9000', 's3://bucket/prefix at localhost:9000'],
  ] as const) {
    const store = await openObjectStore(uri, { endpoint, region: 'us-east-1' });
    expect(store.description).toBe(description);
    await store.close();
  }
});

it.each([
  '',
  '  ',
  'disk:',
  's3:',
  's3:/bucket',
  's3://',
  's3:///prefix',
  's3://Bucket',
  's3://a',
  's3://bucket//prefix',
  's3://bucket/../other',
  's3://bucket/pre fix',
  's3://bucket/prefix?region=x',
  's3://AKIAKEY:hunter2@bucket/prefix',
  'gs://bucket/prefix',
  'https://user:hunter2@host/bucket',
  'file:///data',
])('refuses %j by name, without repeating a secret', async (uri) => {
  await expect(openObjectStore(uri)).rejects.toThrow(
    expect.toSatisfy(
      (error) =>
        isPackhouseError(error, 'OBJECT_STORE_INVALID') &&
        !/hunter2|AKIAKEY/.test(`${error.message}${error.hint}`),
    ),
  );
});
