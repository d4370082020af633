import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getKeyId } from '@packhouse/manifest';
import { expect, it } from 'vitest';
import { jsonLines, type Outcome } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

// One database and one folder, from no key to two; run in order.
const on = useCommands();
const packhouse = (...args: string[]): Promise<Outcome> => on.packhouse('manifest', ...args);

it('says that there is no key yet', async () => {
  expect(await packhouse('keys')).toEqual({
    code: 0,
    out: 'No signing key yet. The first packer creates it.\n',
    err: '',
  });
});

it('makes the first key where there is none, and tells its public half only', async () => {
  const [made] = jsonLines(await packhouse('rotate', '--json'));
  const file = path.join(on.directory, 'signing-key.pem');
  expect(made).toEqual({ keyId: expect.any(String), retired: null, movedTo: null, file });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const outcome = await packhouse('keys', '--json');
  const [key] = jsonLines(outcome);
  expect(key).toMatchObject({ keyId: made?.keyId, retiredAt: null });
  expect(getKeyId(Buffer.from(key?.publicKey as string, 'base64'))).toBe(made?.keyId);
  const secret = (await readFile(file, 'utf8')).split('\n')[1] as string;
  expect(outcome.out).not.toContain(secret.slice(22));
});

it('retires the key, moves its file away and goes on with another', async () => {
  const [before] = jsonLines(await packhouse('keys', '--json'));
  const { code, out } = await packhouse('rotate');
  expect(code).toBe(0);
  expect(out).toContain(`Key ${before?.keyId} retired. Entries that it signed stay valid.`);
  expect(out).toContain(`signing-key.pem.${before?.keyId}.retired`);
  const keys = jsonLines(await packhouse('keys', '--json'));
  expect(keys.map((key) => key.retiredAt)).toEqual([expect.any(String), null]);
  expect((await packhouse('keys')).out).toMatch(/KEY .*PUBLIC KEY .*STATE\n.*retired .*\n.*active since /);
});

it('refuses a retired key and a file that holds none, in one line each', async () => {
  const [first] = jsonLines(await packhouse('keys', '--json'));
  const retired = await packhouse('rotate', '--key-file', `signing-key.pem.${first?.keyId}.retired`);
  expect(retired.code).toBe(78);
  expect(retired.err).toMatch(
    /^packhouse: The signing key [0-9a-f]{16} that is here was retired.*\[SIGNING_KEY_CHANGED\]\n$/,
  );
  await writeFile(path.join(on.directory, 'other.pem'), 'words');
  const invalid = await packhouse('rotate', '--key-file', 'other.pem');
  expect(invalid.code).toBe(78);
  expect(invalid.err).toMatch(
    /^packhouse: [^\n]*other\.pem holds no ed25519 private key[^\n]*\[SIGNING_KEY_INVALID\]\n$/,
  );
});
