import { expect, test } from 'vitest';
import { run } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();
const { done, refused } = on;

test('channels are added, listed, paused and removed; an address is read from stdin and never printed', async () => {
  await on.database.networks.register({ id: 'main', chainId: 1 });
  expect((await done('notifications', 'list')).out).toContain('No channels.');
  const options = ['--network', 'main', '--severity', 'critical', '--quiet', 'Sat,Sun Europe/Berlin'];
  const added = await run(['notifications', 'add', 'slack', '-', ...options], {
    cwd: on.directory,
    env: { DATABASE_URL: on.databaseUrl },
    input: 'https://hooks.slack.example/services/s3cret\n',
  });
  expect(added.out).toBe('Channel 1 (slack) added. `packhouse notifications test 1` sends a test.\n');
  const mail = await done('notifications', 'add', 'email', 'ada@example.com', 'ben@example.com');
  expect(mail.out).toContain('Channel 2 (email) added.');
  expect((await done('notifications', 'add', 'webhook', 'https://example.com/in')).out).toContain(
    'Secret: whsec_',
  );
  await done('notifications', 'pause', '2');
  const { out } = await done('notifications', 'list');
  expect(out).toMatch(
    /1\s+slack\s+active\s+hooks\.slack\.example\s+main\s+critical\s+Sat,Sun Europe\/Berlin\s+-/,
  );
  expect(out).toMatch(/2\s+email\s+paused\s+ada@example\.com ben@example\.com\s+all\s+warning/);
  expect(out).not.toMatch(/s3cret|whsec_/);
  await done('notifications', 'resume', '2');
  await done('notifications', 'remove', '2');
  expect(await refused(64, 'notifications', 'remove', '2')).toContain('Unknown channel 2.');
});

test('what does not fit is refused with its reason', async () => {
  expect(
    await refused(64, 'notifications', 'add', 'slack', 'https://a.example', 'https://b.example'),
  ).toContain('takes one URL');
  expect(await refused(64, 'notifications', 'add', 'email', 'ada')).toContain('ada@example.com');
});
