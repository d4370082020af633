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
  const set = ['1', '--to', '-', '--network', 'any', '--severity', 'warning', '--quiet', 'none'];
  const changed = await run(['notifications', 'set', ...set], {
    cwd: on.directory,
    env: { DATABASE_URL: on.databaseUrl },
    input: 'https://other.example/s3cret\n',
  });
  expect(changed.out).toBe('Channel 1 changed.\n');
  expect((await done('notifications', 'set', '2', '--to', 'cleo@example.com')).out).toContain(
    'Channel 2 changed.\nNo packer runs now',
  );
  const after = (await done('notifications', 'list')).out;
  expect(after).toMatch(/1\s+slack\s+active\s+other\.example\s+all\s+warning\s+-/);
  expect(after).toMatch(/2\s+email\s+paused\s+cleo@example\.com\s+all/);
  expect((await done('notifications', 'rotate', '3', '--overlap', '2')).out).toMatch(
    /^Secret: whsec_\S+\nThe old secret signs too for 2 hours\.$/m,
  );
  await done('notifications', 'resume', '2');
  await done('notifications', 'remove', '2');
  expect(await refused(64, 'notifications', 'remove', '2')).toContain('Unknown channel 2.');
});

test('a webhook is changed; what is not named stays', async () => {
  await on.database.networks.register({ id: 'main', chainId: 1 });
  const topic = `0x${'1'.repeat(64)}`;
  await done(
    'hooks',
    'add',
    'https://a.example/s3cret',
    '--network',
    'main',
    '--kinds',
    'logs',
    '--topic',
    topic,
  );
  const changed = await done('hooks', 'set', '1', '--url', 'https://b.example/s3cret');
  expect(changed.out).toBe('Webhook 1 changed: logs to b.example.\n');
  expect(await on.database.hooks.find(1)).toMatchObject({ url: 'https://b.example/s3cret', topics: [topic] });
  await done('hooks', 'set', '1', '--topic', 'any', '--kinds', 'blocks');
  expect(await on.database.hooks.find(1)).toMatchObject({ kinds: ['blocks'], topics: [] });
  expect(await refused(64, 'hooks', 'set', '1')).toContain('No change is given.');
  expect(await refused(64, 'notifications', 'set', '1')).toContain('No change is given.');
});

test('what does not fit is refused with its reason', async () => {
  expect(
    await refused(64, 'notifications', 'add', 'slack', 'https://a.example', 'https://b.example'),
  ).toContain('takes one URL');
  expect(await refused(64, 'notifications', 'add', 'email', 'ada')).toContain('ada@example.com');
});
