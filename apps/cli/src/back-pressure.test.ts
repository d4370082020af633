import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { toDay } from '@packhouse/runtime';
import { beforeAll, expect, test } from 'vitest';
import { runCli } from './cli.js';
import { makeDownloads } from './testing/downloads.js';
import { memoryIo } from './testing/run.js';
import { useCommands } from './testing/use-commands.js';

const on = useCommands();
const ROWS = 40;
const hash = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
beforeAll(async () => {
  const { database } = on;
  on.env.OBJECT_STORE = path.join(on.directory, 'objects');
  await mkdir(on.env.OBJECT_STORE);
  const today = toDay(Date.now());
  for (let row = 0; row < ROWS; row += 1) {
    const id = `net-${row}`;
    await database.networks.register({ id, chainId: row + 1 });
    const { row: key } = await database.keys.create({ application: id, network: null, plan: 'free' });
    const used = { keyId: key.id, day: today, network: id, method: 'eth_call' };
    await database.usage.add([{ ...used, requests: 1, units: 1, errors: 0, bytes: 1 }]);
    await database.plans.set(`plan-${row}`, {}, { make: true });
    await database.network(id).alarms.raise({ name: 'REORG_BELOW_FINALITY', message: 'x', data: {} });
    await database.manifest.rotateKey(Buffer.alloc(32, row + 1));
    const [firstBlock, lastBlock] = [row * 10, row * 10 + 4];
    await database.network('net-0').bundles.publish({
      kind: 'logs',
      firstBlock,
      lastBlock,
      objectKey: `net-0/logs/${firstBlock}-${lastBlock}.json.gz`,
      byteLength: 100,
      rawLength: 1_000,
      sha256: hash(row).slice(2),
      proofs: [],
      formatVersion: 1,
      firstHash: hash(firstBlock),
      firstParentHash: hash(firstBlock - 1),
      lastHash: hash(lastBlock),
      fragments: [{ firstBlock: firstBlock, lastBlock: lastBlock, byteLength: 10, rawLength: 20, crc32: 1 }],
    });
    await database.network('net-0').quarantine.put({
      firstBlock: firstBlock,
      kinds: ['logs'],
      cause: 'PROOF_FAILED',
      message: 'x',
      upstream: null,
      payloadDigest: null,
    });
    const order = await database
      .network('net-0')
      .backfills.add({ kinds: ['logs'], from: firstBlock, to: lastBlock, priority: 1 });
    await database.backfills.change(order.id, { state: 'cancelled' });
  }
  await database.network('net-0').head.set({ number: 2_000, hash: hash(2_000), finalized: 1_900 });
});

/** A reader that takes one write a turn, and what it had to remember at most. */
async function readSlowly(args: readonly string[], cwd = on.directory) {
  const seen = { lines: 0, longest: 0, remembered: 0 };
  const stdout = new Writable({
    highWaterMark: 256,
    write(chunk: Buffer, _, done) {
      seen.lines += chunk.toString().trimEnd().split('\n').length;
      seen.longest = Math.max(seen.longest, chunk.length);
      seen.remembered = Math.max(seen.remembered, stdout.writableLength);
      setImmediate(done);
    },
  });
  const { io } = memoryIo({ cwd, env: { DATABASE_URL: on.databaseUrl, ...on.env } });
  await runCli({ ...io, stdout }, args);
  await new Promise((resolve) => stdout.end(resolve));
  return seen;
}

const TOO_MUCH = 256;

test.each([
  ['keys list --json'],
  ['keys usage --json'],
  ['plans list --json'],
  ['alarms list --json'],
  ['backfill list --json'],
  ['quarantine list --json'],
  ['manifest keys --json'],
  ['status --json'],
  ['status --holes --json --limit 1 --network net-0'],
  ['audit --json --network net-0'],
])('%s remembers no more for a slow reader than a line', async (command) => {
  const { lines, longest, remembered } = await readSlowly(command.split(' '));
  expect(lines).toBeGreaterThanOrEqual(ROWS);
  expect(remembered).toBeLessThanOrEqual(TOO_MUCH + longest);
});

test.each([['verify --json'], ['verify']])('%s remembers no more than a line either', async (command) => {
  const json = command.split(' ').slice(1);
  const here = await makeDownloads();
  for (let file = 0; file < ROWS; file += 1) {
    await here.publish('logs', file * 10, file * 10 + 9);
    if (json.length === 0) await appendFile(here.at('logs', `${file * 10}-${file * 10 + 9}.json.gz`), 'x');
  }
  const args = ['verify', '.', ...json];
  const { lines, longest, remembered } = await readSlowly(args, here.directory);
  await here.close();
  // And a summary; without --json also what replaces damaged files.
  expect(lines).toBe(ROWS + (json.length === 0 ? 2 : 1));
  expect(remembered).toBeLessThanOrEqual(TOO_MUCH + longest);
});
