import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, type Database } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { makeSigningKey } from '@packhouse/manifest';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { openSigners, rotateSigningKey } from './sign.js';

let database: Database;
let directory: string;
let file: string;
let log: string[];
let context: Context;
let drop: () => Promise<void>;
beforeEach(async () => {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  log = [];
  context = {
    logger: createLogger({
      name: 'test',
      level: 'trace',
      destination: { write: (line) => void log.push(line) },
    }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
  };
  database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  directory = await mkdtemp(path.join(tmpdir(), 'packhouse-key-'));
  file = path.join(directory, 'signing-key.pem');
  drop = fresh.drop;
});
afterEach(async () => {
  await database.close();
  await drop();
  await rm(directory, { recursive: true, force: true });
});

const at = (name: string) => openSigners({ context, database, file: path.join(directory, name) });

it('makes the key on the first start, for its owner alone, and takes the same one on the next', async () => {
  const first = (await openSigners({ context, database, file })).current();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(log.join('')).toContain(first.keyId);
  expect(await database.manifest.keys()).toMatchObject([{ keyId: first.keyId, retiredAt: null }]);
  expect((await openSigners({ context, database, file })).current().keyId).toBe(first.keyId);
});

it('warns at its start in one line if others than the owner may use the key file', async () => {
  const warnings = () => log.filter((line) => line.includes('"level":"warn"'));
  await openSigners({ context, database, file });
  // A secret of a container: of root, and the group may read it.
  const mounted = process.getuid?.() === 0 ? [0o440] : [];
  for (const mode of [0o600, 0o400, ...mounted]) {
    await chmod(file, mode);
    await openSigners({ context, database, file });
    expect(warnings()).toEqual([]);
  }
  for (const mode of [0o640, 0o604, 0o620, 0o644]) {
    await chmod(file, mode);
    log = [];
    const signers = await openSigners({ context, database, file });
    await signers.renew();
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain(
      `The signing key file ${file} has the permissions 0${mode.toString(8)}: others than its owner can use it`,
    );
  }
});

it('shows the private key nowhere: not in the database, the log, the signer or an error', async () => {
  const source = await openSigners({ context, database, file });
  const pem = await readFile(file, 'utf8');
  const secret = pem.split('\n')[1] as string;
  expect(secret.length).toBeGreaterThan(40);
  await writeFile(file, pem.replace('BEGIN PRIVATE KEY', 'BEGIN PRIVATE KEV'));
  const error = await source.renew().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'SIGNING_KEY_INVALID', message: expect.stringContaining(file) });
  const shown = [JSON.stringify(await database.manifest.keys()), log.join(''), JSON.stringify(error)];
  shown.push(String(error), JSON.stringify(source.current()), String((error as Error).cause));
  for (const text of shown) expect(text).not.toContain(secret.slice(20, 60));
});

it('says that the key is missing, and which one, instead of making another', async () => {
  const { keyId } = (await openSigners({ context, database, file })).current();
  await expect(at('elsewhere.pem')).rejects.toMatchObject({
    code: 'SIGNING_KEY_MISSING',
    message: expect.stringContaining(keyId),
    hint: expect.stringContaining('packhouse manifest rotate'),
  });
  await expect(stat(path.join(directory, 'elsewhere.pem'))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('says that the key was replaced, naming both', async () => {
  const { keyId } = (await openSigners({ context, database, file })).current();
  const other = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const elsewhere = createDatabase({ connectionString: other.url, context, applicationName: 'test' });
  const strange = path.join(directory, 'strange.pem');
  const { keyId: got } = (await openSigners({ context, database: elsewhere, file: strange })).current();
  await elsewhere.close();
  await other.drop();
  await expect(at('strange.pem')).rejects.toMatchObject({
    code: 'SIGNING_KEY_CHANGED',
    message: expect.stringMatching(new RegExp(`${got}.*${keyId}`)),
  });
});

it('agrees on one key though ten processes start at once on one file', async () => {
  const sources = await Promise.all(
    Array.from({ length: 10 }, () => openSigners({ context, database, file })),
  );
  expect(new Set(sources.map((source) => source.current().keyId)).size).toBe(1);
  expect(await database.manifest.keys()).toHaveLength(1);
});

it('lets one win of two first starts with files of their own; the other leaves no useless key behind', async () => {
  const names = ['a.pem', 'b.pem', 'c.pem'];
  const outcomes = await Promise.allSettled(names.map(at));
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') continue;
    expect(outcome.reason).toMatchObject({ code: 'SIGNING_KEY_MISSING' });
    await expect(stat(path.join(directory, names[i] as string))).rejects.toMatchObject({ code: 'ENOENT' });
  }
});

it('says where a key file is that cannot be used', async () => {
  await chmod(directory, 0o700);
  await expect(at('no/such/folder.pem')).rejects.toMatchObject({
    code: 'DATA_DIR_UNUSABLE',
    message: expect.stringContaining('folder.pem'),
  });
});

it('goes on with a new key when it is rotated, also in a process that runs, and keeps the old file', async () => {
  const source = await openSigners({ context, database, file });
  const { keyId: old } = source.current();
  const rotation = await rotateSigningKey({ database, file });
  expect(rotation).toMatchObject({ retired: old, movedTo: `${file}.${old}.retired` });
  expect(rotation.keyId).not.toBe(old);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(`${file}.${old}.retired`)).mode & 0o777).toBe(0o600);
  expect(source.current().keyId).toBe(old);
  expect((await source.renew()).keyId).toBe(rotation.keyId);
});

it('makes a new key where the file is lost, and takes the one that is there where it was replaced', async () => {
  const { keyId: lost } = (await openSigners({ context, database, file })).current();
  await rm(file);
  const made = await rotateSigningKey({ database, file });
  expect(made).toMatchObject({ retired: lost, movedTo: null });
  await writeFile(file, makeSigningKey());
  const taken = await rotateSigningKey({ database, file });
  expect(taken).toMatchObject({ retired: made.keyId, movedTo: null });
  expect((await openSigners({ context, database, file })).current().keyId).toBe(taken.keyId);
  expect(await database.manifest.keys()).toHaveLength(3);
});

it('names the producer as the root package names its version', async () => {
  const root = new URL('../../../../package.json', import.meta.url);
  const { version } = JSON.parse(await readFile(root, 'utf8')) as { version: string };
  expect((await openSigners({ context, database, file })).current().producer).toBe(`packhouse/${version}`);
});
