import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  on.env.OBJECT_STORE = path.join(on.directory, 'objects');
  await mkdir(on.env.OBJECT_STORE);
});

const refused = (code: number, args: string[]): Promise<string> => on.refused(code, 'audit', ...args);

describe('an audit is refused in one sentence', () => {
  test('where no network is known', async () => {
    expect(await refused(64, [])).toMatch(/There are no networks yet, .*\[AUDIT_EMPTY\]$/);
    await on.database.networks.register({ id: 'main', chainId: 1 });
  });

  test('for a network or a kind that does not exist', async () => {
    expect(await refused(64, ['--network', 'other'])).toMatch(
      /Unknown network "other"\. Networks: main\. \[NETWORK_UNKNOWN\]$/,
    );
    expect(await refused(64, ['--kinds', 'uncles'])).toMatch(/no kind "uncles"\. .*\[KIND_UNKNOWN\]$/);
  });

  test('for a range that is reversed, malformed or holds nothing', async () => {
    expect(await refused(64, ['--from', '9', '--to', '3'])).toMatch(/9 to 3 is reversed.*\[RANGE_INVALID\]$/);
    expect(await refused(64, ['--from', '-1'])).toMatch(/--from takes a block number.*\[RANGE_INVALID\]$/);
    expect(await refused(64, ['--from', '5', '--to', '9', '--kinds', 'logs'])).toMatch(
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
    on.env.OBJECT_STORE = path.join(on.directory, 'nowhere');
    expect(await refused(78, [])).toMatch(/^Folder .*nowhere does not exist\. .*\[OBJECT_STORE_INVALID\]$/);
  });
});
