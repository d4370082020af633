import { describe, expect, test } from 'vitest';
import { jsonLines, run } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

// Run in order, from a database without anything.
const on = useCommands({ migrated: false });

describe('before the schema is there', () => {
  test.each([['status'], ['keys list'], ['backfill list']])(
    '`packhouse %s` says to migrate',
    async (command) => {
      expect(await on.refused(75, ...command.split(' '))).toMatch(
        /`packhouse migrate`.*\[DATABASE_NOT_MIGRATED\]$/,
      );
    },
  );

  test('migrate brings it up, and has nothing to do the next time', async () => {
    const [first] = jsonLines(await on.done('migrate', '--json'));
    expect(first).toEqual({ applied: expect.arrayContaining(['0001_initial']) });
    expect((await on.done('migrate')).out).toBe('The schema is up to date.\n');
    expect(jsonLines(await on.done('migrate', '--json'))).toEqual([{ applied: [] }]);
  });

  test('without an address, and with one where nobody is, the way out is named', async () => {
    const without = await run(['migrate'], { env: { DATABASE_URL: '' } });
    expect(without.code).toBe(78);
    expect(without.err).toMatch(
      /DATABASE_URL: it is not set, expected a Postgres address, .*\[SETTINGS_INVALID\]\n$/,
    );
    const nobody = await run(['keys', 'list'], {
      env: { DATABASE_URL: 'postgres://someone:secret@127.0.0.1:9/none' },
    });
    expect(nobody.code).toBe(69);
    expect(nobody.err).toMatch(/127\.0\.0\.1:9\/none .*\[DATABASE_UNAVAILABLE\]\n$/);
    expect(nobody.err).not.toContain('secret');
  });

  test('a log level that does not exist is refused by name', async () => {
    const { code, err } = await run(['keys', 'list'], {
      env: { DATABASE_URL: on.databaseUrl, LOG_LEVEL: 'loud' },
    });
    expect(err).toMatch(/LOG_LEVEL: got "loud", expected one of fatal, .*\[SETTINGS_INVALID\]\n$/);
    expect(code).toBe(78);
  });
});
