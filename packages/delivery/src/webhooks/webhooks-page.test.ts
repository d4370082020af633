import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeHookSalt, signDelivery, toHookSecret } from '../outbox/secret.js';

const page = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');
const blockOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(page)?.[1] as string;
const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;

const seal = Buffer.alloc(32, 1);
const [salt, oldSalt] = [makeHookSalt(), makeHookSalt()];
const NOW = 1_800_000_000;
const body = '{"type":"feed.steps","data":{"steps":["ü"]}}';

/** Deliveries with what a receiver must say of them. */
const CASES = [
  { secret: toHookSecret(seal, salt), body, now: NOW, isGenuine: true },
  { secret: toHookSecret(seal, oldSalt), body, now: NOW + 200, isGenuine: true },
  { secret: toHookSecret(seal, makeHookSalt()), body, now: NOW, isGenuine: false },
  { secret: toHookSecret(seal, salt), body: `${body} `, now: NOW, isGenuine: false },
  { secret: toHookSecret(seal, salt), body, now: NOW + 301, isGenuine: false },
  { secret: toHookSecret(seal, salt), body, now: NOW - 301, isGenuine: false },
].map((each) => {
  const id = 'msg_1';
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(NOW),
    'webhook-signature': signDelivery(seal, [salt, oldSalt], { id, timestamp: NOW, body }),
  };
  return { headers, ...each };
});
const expected = CASES.map(({ isGenuine }) => isGenuine);

function run(program: string, args: readonly string[]): unknown {
  const { stdout, stderr } = spawnSync(program, args, { input: JSON.stringify(CASES), encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

it('docs/webhooks.md verifies in Node', () => {
  const script = `${blockOf('js').replace('export ', '')}
    let text = '';
    for await (const piece of process.stdin) text += piece;
    console.log(JSON.stringify(JSON.parse(text).map((c) => verify(c.headers, c.body, c.secret, c.now))));`;
  expect(run(process.execPath, ['--input-type=module', '-e', script])).toEqual(expected);
});

it.skipIf(!hasPython)('docs/webhooks.md verifies in Python (needs python3)', () => {
  const script = `${blockOf('python')}
import json, sys
print(json.dumps([verify(c["headers"], c["body"].encode(), c["secret"], c["now"]) for c in json.load(sys.stdin)]))`;
  expect(run('python3', ['-c', script])).toEqual(expected);
});

it('the secret has the form of the specification, and is the same whenever it is derived', () => {
  const secret = toHookSecret(seal, salt);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(toHookSecret(seal, Buffer.from(salt))).toBe(secret);
  expect(secret).not.toContain(salt.toString('base64'));
});
