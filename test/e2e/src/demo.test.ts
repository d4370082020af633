import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { KINDS } from '@packhouse/chain';
import { callNode, freePort, type Program, plainEnvironment, runSql, startProgram } from '@packhouse/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCli } from './cli-process.js';
import { type GatewayReader, gatewayReader, readerOf } from './gateway-reader.js';
import { getBlocks, paste, pattern, root } from './pasted.js';
import { getChildren } from './processes.js';
import { end } from './workspace.js';

// Everything embedded: Postgres, Anvil, the queue on Postgres, objects on disk. Run in order on one data folder: first as
// README.md tells, then with what programs ask for.
const WAIT = { timeout: 120_000, interval: 100 };
const shell = promisify(execFile);
/** In it the lines of README.md work as in the folder of the project. */
let place: string;
let directory: string;
let port: string;
let run: Program | undefined;
let first: { gateway: GatewayReader; link: string; hash: string; published: number };
beforeAll(async () => {
  place = await mkdtemp(path.join(tmpdir(), 'packhouse-demo-'));
  await symlink(path.join(root, 'node_modules'), path.join(place, 'node_modules'));
  directory = path.join(place, '.packhouse');
  port = String(await freePort());
});
afterAll(async () => {
  await end(run);
  // Where Postgres could not live inside the folder, its place is noted there.
  const moved = await readFile(path.join(directory, 'postgres', 'LOCATION'), 'utf8').catch(() => null);
  if (moved !== null) await rm(moved.trim(), { recursive: true, force: true });
  await rm(place, { recursive: true, force: true });
});

async function hashOfFifth(gateway: GatewayReader): Promise<string> {
  const { range, download_link } = await gateway.pointer('blocks', 5);
  const records = (await gateway.records(download_link)) as { hash: string }[];
  return records[5 - Number(range.split('-')[0])]?.hash ?? '';
}

/** Listens at a port, until it is told to end. */
async function takePort(number: string): Promise<() => Promise<unknown>> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(Number(number), '127.0.0.1', resolve));
  return () => new Promise((resolve) => server.close(resolve));
}

test('npm start says at once which port it takes, and prints what is needed to read', async () => {
  const [block] = await getBlocks('README.md');
  expect(block?.text).toBe('npm start\n');
  const scripts = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const [, program = ''] = /^exec node (\S+)$/.exec(scripts.scripts.start) ?? [];
  const free = await takePort(port);
  const started = startProgram(program, ['--port', port], { env: plainEnvironment(process.env), cwd: place });
  run = started;
  const said = async (what: RegExp): Promise<string[]> => {
    await expect.poll(() => started.stdout() + started.stderr(), WAIT).toMatch(what);
    return [...(what.exec(started.stdout()) ?? [])];
  };
  const [, apiKey = ''] = await said(/^ {2}API key {2}(\S+)$/m);
  const [, address = ''] = await said(/^ {2}Gateway {2}(\S+) \(port \d+ is in use\)$/m);
  const [, link = ''] = await said(/^ {2}Console {2}(\S+) \(one-time link/m);
  const output = started.stdout();
  const told = output.indexOf(`Port ${port} is in use; the gateway takes ${new URL(address).port}.\n`);
  expect(told).toBeGreaterThanOrEqual(0);
  expect(told).toBeLessThan(output.indexOf('Packhouse is running with a demo chain.'));
  await free();
  const gateway = readerOf({
    apiKey,
    baseUrl: `${address}/demo/v1/`,
    downloadUrl: `${address}/demo/files`,
  });
  await said(/^# the file that contains block 0$/m);
  for (const kind of KINDS)
    await expect.poll(async () => (await gateway.pointer(kind, 17)).range, WAIT).toBe('0-63');
  first = { gateway, link, hash: await hashOfFifth(gateway), published: KINDS.length };
});

test('every line of README.md works in a second terminal', async () => {
  const [, ...blocks] = await getBlocks('README.md');
  expect(blocks.length).toBeGreaterThan(3);
  const own = (text: string): string =>
    text.replaceAll('http://127.0.0.1:8080', new URL(first.gateway.baseUrl).origin);
  const lines = blocks.flatMap(({ text, answers }) =>
    text
      .trimEnd()
      .split('\n')
      .map((line, n, all) => ({ line, answers: n === all.length - 1 ? answers : [] })),
  );
  const script = lines.map(({ line }) => `${own(line)}\necho "next-line $?"\n`).join('');
  const output = await paste('bash', script, {}, place).output;
  const ends = [...output.matchAll(/next-line (\d+)\n/g)];
  expect(ends.map(([, code], n) => `${code} ${lines[n]?.line}`)).toEqual(
    lines.map(({ line }) => `0 ${line}`),
  );
  const outputs = output.split(/next-line \d+\n/);
  for (const [n, { line, answers }] of lines.entries())
    for (const answer of answers) expect(outputs[n]?.trim(), line).toMatch(pattern(own(answer)));
  expect(lines.flatMap(({ answers }) => answers)).toHaveLength(1);

  const link = `${first.gateway.downloadUrl}/logs/0-63.json.gz`;
  const records = (await first.gateway.records(link)) as { address: string }[][];
  const shown = outputs[lines.findIndex(({ line }) => line.endsWith('| gunzip'))];
  expect(JSON.parse(shown ?? '')).toEqual(records);
  expect(await readdir(path.join(place, 'downloads/logs'), { recursive: true })).toContain(
    'logs/0-63.json.gz',
  );
  const [header = '', row = ''] = (outputs.at(-2) ?? '').split('\n');
  expect(header).toMatch(/^block_number,.*,event,arg_from,arg_to,arg_value,arg_value_double,arg_value_text$/);
  const [, token = ''] = /--address (0x\w{40})/.exec(script) ?? [];
  expect(row).toContain(`${token},`);
  expect(row).toContain(',Transfer,');
  // All of them are events of that contract.
  const [table = ''] = await readdir(path.join(place, 'downloads/transfers')).then((names) =>
    names.filter((name) => name.endsWith('.csv')),
  );
  const rows = (await readFile(path.join(place, 'downloads/transfers', table), 'utf8')).trimEnd().split('\n');
  expect(rows).toHaveLength(records.flat().filter(({ address }) => address === token).length + 1);
  const again = lines.find(({ line }) => line.includes('--format csv'))?.line ?? '';
  expect(
    await paste('bash', `${own(again)}\n`, { PACKHOUSE_API_KEY: first.gateway.apiKey }, place).output,
  ).toMatch(
    new RegExp(
      `^No new rows of blocks 0-63 of demo\\. Total in downloads/transfers: ${rows.length - 1} rows?\\.$`,
      'm',
    ),
  );
});

test('the demo chain is packed and served: pointers, downloads, and a block that is still new', async () => {
  const { gateway } = first;
  for (const kind of KINDS) {
    const pointer = await gateway.pointer(kind, 3);
    expect(Object.keys(pointer)).toEqual(['type', 'range', 'download_link']);
    const [start, last] = pointer.range.split('-').map(Number) as [number, number];
    const records = await gateway.records(pointer.download_link);
    expect(records).toHaveLength(last - start + 1);
    if (kind === 'blocks') expect(records[3 - start]).toMatchObject({ number: '0x3' });
  }

  // The newest block, which is staged and not packed: what a block that is still new answers.
  const newest = (): Promise<string> => callNode(`${gateway.baseUrl}${gateway.apiKey}`, 'eth_blockNumber');
  let head = '';
  const isStaged = async (): Promise<boolean> => {
    head = await newest();
    const at = `${gateway.baseUrl}${gateway.apiKey}/bundle-api/blocks/${Number(head)}`;
    return (await fetch(at)).status === 200;
  };
  await expect.poll(isStaged, WAIT).toBe(true);
  const fresh = await gateway.pointer('blocks', Number(head));
  expect(fresh.range).toBe(`${Number(head)}-${Number(head)}`);
  expect(await gateway.records(fresh.download_link)).toMatchObject([{ number: head }]);

  // A program that knows only curl and gunzip reads the same.
  const link = (await gateway.pointer('logs', 1)).download_link;
  const { stdout } = await shell(
    'sh',
    ['-c', `curl -s -H 'Authorization: Bearer ${gateway.apiKey}' ${link} | gunzip`],
    { maxBuffer: 64 << 20 },
  );
  expect(Array.isArray(JSON.parse(stdout))).toBe(true);
});

/** Signs in by a link that a run printed. */
function signIn(link: string): Promise<Response> {
  return fetch(new URL('/api/sign-in', link), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link: link.split('#/link/')[1] }),
  });
}

test('the link to the console signs an admin in, once', async () => {
  const answer = await signIn(first.link);
  expect(await answer.json()).toMatchObject({ name: 'local', role: 'admin' });
  expect((await signIn(first.link)).status).toBe(401);
});

test('an interrupt drains it and leaves no process behind', async () => {
  const { child, exit } = run as Program;
  const children = await getChildren(child.pid as number);
  expect(children.length).toBeGreaterThanOrEqual(4);
  child.kill('SIGINT');
  expect(await exit).toBe(0);
  for (const child of children) await child.gone();
});

test('a second start goes on where it was, with the same key and the same chain', async () => {
  const cli = startCli(['local', '--json', '--data-dir', directory, '--port', port, '--reorg-every', '5']);
  run = cli;
  const gateway = await gatewayReader(cli);
  expect(gateway.apiKey).toBe(first.gateway.apiKey);
  const progress = await cli.event('progress');
  expect(progress.bundles).toBeGreaterThanOrEqual(first.published);
  expect(await hashOfFifth(gateway)).toBe(first.hash);
  const { link } = (await cli.event('console')) as unknown as { link: string };
  expect((await signIn(link)).status).toBe(200);
  // The chain goes on from where it was: a block behind the head of now is staged too.
  const { head } = progress as unknown as { head: number };
  await cli.event('progress', (event) => (event.head as number) > head);
});

test('with --reorg-every a webhook is told what was undone, on this machine only if that is allowed', async () => {
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
    expect(added.stdout()).toContain(
      'only if their HOOK_ALLOWED_ADDRESSES names it: `packhouse hooks test 1`',
    );
    const refused = startCli(['hooks', 'test', '1', '--data-dir', directory]);
    expect(await refused.exit).toBe(0);
    expect(refused.stdout()).toContain(
      'The address of the host is not public, and not allowed by a setting.',
    );
    expect(received).toEqual([]);
    await end(run);
    const args = ['local', '--json', '--data-dir', directory, '--port', port, '--reorg-every', '5'];
    run = startCli(args, { env: { HOOK_ALLOWED_ADDRESSES: '127.0.0.1' } });
    await run.event('progress');
    const tested = startCli(['hooks', 'test', '1', '--data-dir', directory]);
    expect(await tested.exit).toBe(0);
    expect(tested.stdout()).toMatch(/^Accepted in \d+ ms\.$/m);
    const steps = () => new Set(received.map(({ step }) => step));
    await expect.poll(() => ['new', 'undo', 'final'].every((step) => steps().has(step)), WAIT).toBe(true);
    const url = (await readFile(path.join(directory, 'database-url'), 'utf8')).trim();
    expect(await runSql(url, 'SELECT * FROM packhouse.alarm')).toEqual([]);
  } finally {
    receiver.close();
  }
});

test('a second process on the same data folder is refused', async () => {
  const second = startCli(['local', '--data-dir', directory]);
  expect(await second.exit).toBe(75);
  expect(second.stderr()).toMatch(/is in use by process \d+.*\[DATA_DIR_BUSY\]\n$/);
});
