import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, type Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { commandContext } from '../connect.js';
import { memoryIo, run } from '../testing/run.js';

let fresh: FreshDatabase;
let database: Database;
let directory: string;
beforeAll(async () => {
  fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  database = createDatabase({
    connectionString: fresh.url,
    context: commandContext(memoryIo().io),
    applicationName: 'test',
  });
  directory = await mkdtemp(path.join(tmpdir(), 'packhouse-audit-'));
  await mkdir(path.join(directory, 'objects'));
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
  await rm(directory, { recursive: true, force: true });
});

/** The one line of an audit that is refused, its exit code checked. */
async function refused(code: number, args: string[], env: Record<string, string> = {}): Promise<string> {
  const objects = path.join(directory, 'objects');
  const outcome = await run(['audit', ...args], {
    cwd: directory,
    env: { DATABASE_URL: fresh.url, OBJECT_STORE: objects, ...env },
  });
  expect(outcome).toMatchObject({ code, out: '' });
  expect(outcome.err).toMatch(/^packhouse: [^\n]+\n$/);
  return outcome.err.slice('packhouse: '.length).trim();
}

describe('an audit is refused in one sentence', () => {
  test('where no network is known', async () => {
    expect(await refused(64, [])).toMatch(/knows no network yet, .*\[AUDIT_EMPTY\]$/);
    await database.networks.register({ id: 'main', chainId: 1 });
  });

  test('for a network or a kind that does not exist', async () => {
    expect(await refused(64, ['--network', 'other'])).toMatch(
      /no.* network "other"\. It knows main\. \[NETWORK_UNKNOWN\]$/,
    );
    expect(await refused(64, ['--kind', 'uncles'])).toMatch(/no kind "uncles"\. .*\[KIND_UNKNOWN\]$/);
  });

  test('for a range that is reversed, malformed or holds nothing', async () => {
    expect(await refused(64, ['--from', '9', '--to', '3'])).toMatch(/9 to 3 is reversed.*\[RANGE_INVALID\]$/);
    expect(await refused(64, ['--from', '-1'])).toMatch(/--from takes a block number.*\[RANGE_INVALID\]$/);
    expect(await refused(64, ['--from', '5', '--to', '9', '--kind', 'logs'])).toMatch(
      /^Nothing is published of main \(logs\) in blocks 5 to 9, so there is nothing to audit\. .*\[AUDIT_EMPTY\]$/,
    );
    expect(await refused(64, [])).toMatch(/^Nothing is published of main .*\[AUDIT_EMPTY\]$/);
  });

  test.each(['0', '-0.5', '1.01', 'half', ''])('for a sample of "%s"', async (share) => {
    expect(await refused(64, [`--sample=${share}`])).toMatch(
      /^--sample takes a share of the bundles above 0 and up to 1, got ".*"\. .*\[USAGE\]$/,
    );
  });

  test('where orphans cannot be known', async () => {
    expect(await refused(64, ['--sample', '0.5', '--delete-orphans'])).toMatch(
      /--delete-orphans.*\[USAGE\]$/,
    );
  });

  test('where the store is not there, which an audit must not make', async () => {
    const nowhere = path.join(directory, 'nowhere');
    expect(await refused(78, [], { OBJECT_STORE: nowhere })).toMatch(
      /^There is no folder .*nowhere to be audited\. .*\[OBJECT_STORE_INVALID\]$/,
    );
  });
});
