import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { KINDS } from '@packhouse/chain';
import { freePort, type Program, type ProgramEvent } from '@packhouse/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCli } from './cli-process.js';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { sql } from './open-database.js';
import { getChildren } from './processes.js';
import { end } from './workspace.js';

// Everything embedded: Postgres, Anvil, the queue on Postgres, objects on disk. Run in order on one data folder.
const WAIT = { timeout: 120_000, interval: 100 };
const shell = promisify(execFile);
let directory: string;
let port: string;
let cli: Program | undefined;
let firstRun: { apiKey: string; hash: string; published: number };
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'packhouse-demo-'));
  port = String(await freePort());
});
afterAll(async () => {
  await end(cli);
  // Where Postgres could not live inside the folder, its place is noted there.
  const place = await readFile(path.join(directory, 'postgres', 'LOCATION'), 'utf8').catch(() => null);
  if (place !== null) await rm(place.trim(), { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true });
});

async function hashOfFifth(gateway: GatewayReader): Promise<string> {
  const { range, download_link } = await gateway.pointer('blocks', 5);
  const records = (await gateway.records(download_link)) as { hash: string }[];
  return records[5 - Number(range.split('-')[0])]?.hash ?? '';
}

test('the demo chain is packed and served: pointers, downloads, and a block that is still new', async () => {
  cli = startCli(['local', '--json', '--data-dir', directory, '--port', port]);
  const gateway = await gatewayReader(cli);
  const { apiKey } = gateway;
  for (const kind of KINDS) await cli.event('published', (event) => event.kind === kind);
  for (const kind of KINDS) {
    const pointer = await gateway.pointer(kind, 3);
    expect(Object.keys(pointer)).toEqual(['type', 'range', 'download_link']);
    const [start, last] = pointer.range.split('-').map(Number) as [number, number];
    const records = await gateway.records(pointer.download_link);
    expect(records).toHaveLength(last - start + 1);
    if (kind === 'blocks') expect(records[3 - start]).toMatchObject({ number: '0x3' });
  }

  // Staged up to the head, and the head not packed: what a block that is still new answers.
  const upToDate = (event: ProgramEvent): boolean =>
    (event.published as number) > 0 &&
    event.staged === event.requested &&
    (event.head as number) >= (event.published as number);
  const { head } = (await cli.event('progress', upToDate)) as unknown as { head: number };
  const fresh = await gateway.pointer('blocks', head);
  expect(fresh.range).toBe(`${head}-${head}`);
  expect(await gateway.records(fresh.download_link)).toMatchObject([{ number: `0x${head.toString(16)}` }]);

  // A program that knows only curl and gunzip reads the same.
  const link = (await gateway.pointer('logs', 1)).download_link;
  const { stdout } = await shell(
    'sh',
    ['-c', `curl -s -H 'Authorization: Bearer ${apiKey}' ${link} | gunzip`],
    { maxBuffer: 64 << 20 },
  );
  expect(Array.isArray(JSON.parse(stdout))).toBe(true);

  firstRun = {
    apiKey,
    hash: await hashOfFifth(gateway),
    published: cli.events.filter((event) => event.event === 'published').length,
  };
});

/** Signs in by the link that the run printed. */
async function signIn(run: Program): Promise<Response> {
  const { link } = (await run.event('console')) as unknown as { link: string };
  return fetch(new URL('/api/sign-in', link), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link: link.split('#/link/')[1] }),
  });
}

test('the link to the console signs an admin in, once', async () => {
  const answer = await signIn(cli as Program);
  expect(await answer.json()).toMatchObject({ name: 'local', role: 'admin' });
  expect((await signIn(cli as Program)).status).toBe(401);
});

test('an interrupt drains it and leaves no process behind', async () => {
  const run = cli as Program;
  const children = await getChildren(run.child.pid as number);
  expect(children.length).toBeGreaterThanOrEqual(4);
  run.child.kill('SIGINT');
  expect(await run.exit).toBe(0);
  for (const child of children) await child.gone();
});

test('a second start goes on where it was, with the same key and the same chain', async () => {
  cli = startCli(['local', '--json', '--data-dir', directory, '--port', port, '--reorg-every', '5']);
  const gateway = await gatewayReader(cli);
  expect(gateway.apiKey).toBe(firstRun.apiKey);
  const progress = await cli.event('progress');
  expect(progress.bundles).toBeGreaterThanOrEqual(firstRun.published);
  expect(await hashOfFifth(gateway)).toBe(firstRun.hash);
  expect((await signIn(cli)).status).toBe(200);
  // The chain goes on from where it was: a block behind the head of now is staged too.
  const { head } = progress as unknown as { head: number };
  await cli.event('progress', (event) => (event.head as number) > head);
});

test('with --reorg-every a webhook is told what was undone', async () => {
  const received: { step: string }[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.push(...JSON.parse(body).data.steps);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port: at } = receiver.address() as AddressInfo;
  try {
    const added = startCli([
      'hooks',
      'add',
      `http://127.0.0.1:${at}/`,
      '--kinds',
      'blocks',
      '--data-dir',
      directory,
    ]);
    expect(await added.exit).toBe(0);
    // `npm start` allows receivers on this machine; other packers may not.
    expect(added.stdout()).toContain(
      'only if their HOOK_ALLOWED_ADDRESSES names it: `packhouse hooks test 1`',
    );
    const tested = startCli(['hooks', 'test', '1', '--data-dir', directory]);
    expect(await tested.exit).toBe(0);
    expect(tested.stdout()).toMatch(/^Accepted in \d+ ms\.$/m);
    const steps = () => new Set(received.map(({ step }) => step));
    await expect.poll(() => ['new', 'undo', 'final'].every((step) => steps().has(step)), WAIT).toBe(true);
  } finally {
    receiver.close();
  }
});

test('with --reorg-every new blocks are replaced, and the gateway serves those that took their place', async () => {
  const gateway = await gatewayReader(cli as Program);
  const url = (await readFile(path.join(directory, 'database-url'), 'utf8')).trim();
  const removed = () =>
    sql<{ block: number; hash: string }>(
      url,
      `SELECT block::int4 AS block, '0x' || encode(hash, 'hex') AS hash FROM packhouse.abandoned_block ORDER BY block`,
    );
  // The first reorganisation is one block deep, the second two.
  await expect.poll(async () => (await removed()).length, WAIT).toBeGreaterThan(2);
  for (const { block, hash } of await removed()) {
    const present = async (): Promise<string> => {
      const [record] = (await gateway.records((await gateway.pointer('blocks', block)).download_link)) as [
        { hash: string },
      ];
      return record.hash;
    };
    await expect.poll(present, WAIT).not.toBe(hash);
  }
  expect(await sql(url, 'SELECT * FROM packhouse.alarm')).toEqual([]);
});

test('a second process on the same data folder is refused', async () => {
  const second = startCli(['local', '--data-dir', directory]);
  expect(await second.exit).toBe(75);
  expect(second.stderr()).toMatch(/is in use by process \d+.*\[DATA_DIR_BUSY\]\n$/);
});
