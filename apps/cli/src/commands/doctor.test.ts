import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Anvil, startAnvil } from '@packhouse/local';
import {
  createReplayNode,
  forkChain,
  generateChain,
  loadAnswers,
  type ReplayNode,
  type ReplayNodeOptions,
} from '@packhouse/replay-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { jsonLines, type Outcome, run } from '../testing/run.js';

const SECRET = 'k3y-that-nobody-may-see';
const recordings = fileURLToPath(new URL('../../../../test/replay-node/recordings/', import.meta.url));

let directory: string;
let anvil: Anvil;
const open: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'doctor-'));
  anvil = await startAnvil({ args: ['--chain-id', '77'] });
});
afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
});
afterAll(async () => {
  await anvil?.stop();
  await rm(directory, { recursive: true, force: true });
});

const blocks = generateChain({ length: 12 });

async function replay(options: Partial<ReplayNodeOptions> = {}): Promise<ReplayNode> {
  const node = await createReplayNode({
    blocks,
    answers: await loadAnswers(`${recordings}evm.json`),
    ...options,
  });
  open.push(node);
  return node;
}

async function answering(file: string, change = (text: string): string => text): Promise<ReplayNode> {
  const answers = JSON.parse(change(JSON.stringify(await loadAnswers(`${recordings}${file}`))));
  const node = await createReplayNode({ answers });
  open.push(node);
  return node;
}

/** A server with one answer to all requests. */
async function saying(status: number, body: string | null): Promise<string> {
  const server: Server = createServer((_, response) => {
    if (body !== null) response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const evm = (upstreams: string, more = ''): string =>
  `  - {id: main, family: evm, chainId: 1, ${more}upstreams: [${upstreams}]}\n`;

async function doctor(networks: string, args: string[] = []): Promise<Outcome> {
  const file = path.join(directory, 'networks.yaml');
  await writeFile(file, `networks:\n${networks}`);
  return run(['doctor', '--networks', file, ...args]);
}

interface Told {
  upstream: string;
  usable: boolean;
  checks: Record<string, { level: string; text: string }>;
  findings: { level: string; message: string; hint: string }[];
}

async function told(
  networks: string,
  args: string[] = [],
): Promise<{ code: number; all: Told[]; result: object }> {
  const outcome = await doctor(networks, ['--json', ...args]);
  expect(outcome.err).toBe('');
  const lines = jsonLines(outcome);
  return { code: outcome.code, all: lines.slice(0, -1) as unknown as Told[], result: lines.at(-1) as object };
}

/** `reach:ok chain:fail …`, for the checks that ran. */
const levels = ({ checks }: Told): string =>
  Object.entries(checks)
    .filter(([, { level }]) => level !== 'none')
    .map(([column, { level }]) => `${column}:${level}`)
    .join(' ');

describe('packhouse doctor', () => {
  it('finds nothing wrong with a real Anvil', async () => {
    const bundles = 'bundles: {kinds: [blocks, receipts]}, proofs: {header: recompute}, ';
    const networks = `  - {id: dev, family: evm, chainId: 77, ${bundles}upstreams: [{name: anvil, url: '${anvil.url}'}]}\n`;
    const outcome = await doctor(networks);
    expect(outcome).toMatchObject({ code: 0, err: '' });
    expect(outcome.out).toMatch(/^network +upstream +reach +chain +methods +behind/);
    expect(outcome.out).toMatch(
      /^dev +anvil +ok \d+ ms +ok 77 +ok 27\/27 +ok 0 +ok 0 +ok 0 \(empty\) +- +ok 100\+ +anvil/m,
    );
    expect(outcome.out).toMatch(/^dev: 1 of 1 upstream usable\.$/m);
  });

  it('finds nothing wrong with honest nodes of every family, traces included', async () => {
    const [node, core, cell, registry] = [
      await replay(),
      await answering('core.json'),
      await answering('cell.json'),
      await answering('registry.json'),
    ];
    const { code, all, result } = await told(
      evm(`{url: '${node.url}'}`) +
        `  - {id: core, family: core, chainId: 1029, upstreams: [{url: '${core.url}'}]}\n` +
        `  - {id: cell, family: cell, upstreams: [{url: '${cell.url}'}]}\n` +
        `  - {id: names, family: registry, upstreams: [{url: '${registry.url}'}]}\n`,
    );
    expect(all.map((one) => one.findings)).toEqual([[], [], [], []]);
    expect(all.map(levels)).toEqual([
      'reach:ok chain:ok methods:ok behind:ok finalized:ok receipts:ok traces:ok batch:ok client:ok',
      'reach:ok chain:ok methods:ok behind:ok finalized:ok client:ok',
      'reach:ok chain:ok methods:ok behind:ok client:ok',
      'reach:ok chain:ok methods:ok behind:ok',
    ]);
    expect(all.map(({ checks }) => checks.chain?.text)).toEqual(['1', '1029', 'ckb', 'mainnet']);
    expect({ code, result }).toMatchObject({
      code: 0,
      result: { event: 'result', exitCode: 0, warnings: 0 },
    });
  });

  it('warns of a signing key that others than its owner may read', async () => {
    const { url } = await replay();
    const file = path.join(directory, 'networks.yaml');
    await writeFile(file, `networks:\n${evm(`{url: '${url}'}`)}`);
    const key = path.join(directory, 'key.pem');
    await writeFile(key, 'secret', { mode: 0o600 });
    const examined = (...args: string[]) =>
      run(['doctor', '--networks', file, ...args], { cwd: directory, env: { SIGNING_KEY_FILE: 'key.pem' } });
    expect(await examined()).toMatchObject({ code: 0 });
    await chmod(key, 0o640);
    const { code, out } = await examined();
    expect(code).toBe(2);
    expect(out).toContain(`\nwarn: The signing key file ${key} has the permissions 0640: others than`);
    expect(jsonLines(await examined('--json')).slice(1)).toMatchObject([
      { event: 'warning', message: expect.stringContaining(key) },
      { event: 'result', exitCode: 2, warnings: 1 },
    ]);
  });

  it('names the one that lies, lags, is of another chain, or speaks HTML, and goes on with the good one', async () => {
    const good = await replay();
    const lying = await replay({
      faults: [
        {
          do: 'tamper',
          when: { method: 'eth_getBlockReceipts' },
          path: [0, 'cumulativeGasUsed'],
          value: '0x1',
        },
      ],
    });
    const lagging = await replay({ head: 5 });
    const foreign = await replay({ chainId: 5 });
    const page = await saying(502, '<!DOCTYPE html><html>Bad Gateway</html>');
    const names = { good: good.url, lying: lying.url, lagging: lagging.url, foreign: foreign.url, page };
    const { code, all } = await told(
      evm(
        Object.entries(names)
          .map(([name, url]) => `{name: ${name}, url: '${url}'}`)
          .join(', '),
      ),
    );
    expect(code).toBe(2);
    expect(all.map(({ upstream, usable }) => [upstream, usable])).toEqual([
      ['good', true],
      ['lying', false],
      ['lagging', true],
      ['foreign', false],
      ['page', false],
    ]);
    const said = (at: number): string => all[at]?.findings.map(({ message }) => message).join(' ') ?? '';
    expect(said(0)).toBe('');
    expect(said(1)).toMatch(/Its data of finalized block \d+ fail the proofs/);
    expect(said(2)).toMatch(/7 blocks behind the best upstream \(5 and 12\)/);
    expect(said(3)).toMatch(/serves chain 5, but the network is chain 1/);
    expect(said(4)).toMatch(/answered HTTP 502 .*<!DOCTYPE html>/);
    for (const { findings } of all) for (const { hint } of findings) expect(hint).not.toBe('');
  });

  it('prints the line of the networks file that proves most of a chain without rules', async () => {
    const chainId = 123_456;
    const own = generateChain({ length: 12, txsPerBlock: 2, chainId });
    const strange = own.map((one) => ({ ...one, block: { ...one.block, stateRoot: `0x${'1'.repeat(64)}` } }));
    const node = await replay({ blocks: strange, chainId });
    const network = `  - {id: own, family: evm, chainId: ${chainId}, upstreams: [{url: '${node.url}'}]`;
    const { all } = await told(`${network}}\n`);
    expect(all[0]?.findings).toContainEqual({
      level: 'fail',
      message: expect.stringContaining('fail the proofs'),
      hint: expect.stringContaining(
        'in the networks file, proofs: { header: trust } proves transactionsRoot',
      ),
    });
    const { all: trusting } = await told(`${network}, proofs: { header: trust }}\n`);
    expect(trusting[0]).toMatchObject({ usable: true, checks: { receipts: { text: 'partly' } } });
  });

  it('says that a recent block proves and one from the middle of the chain does not', async () => {
    const when = { method: 'eth_getBlockReceipts', block: 6 };
    const node = await replay({
      faults: [{ do: 'tamper', when, path: [0, 'cumulativeGasUsed'], value: '0x1' }],
    });
    const { code, all } = await told(evm(`{url: '${node.url}'}`));
    expect(code).toBe(2);
    expect(all[0]?.usable).toBe(true);
    expect(all[0]?.findings).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(/recent block is proved, but block 6 is not: Block 6: /),
      },
    ]);
  });

  it('upstreams that agree about a fork that is not known are not called false', async () => {
    const unknown = forkChain(blocks, { amsterdam: 3, invented: 5, as: 'hashed' });
    const [first, second] = [await replay({ blocks: unknown }), await replay({ blocks: unknown })];
    const { all } = await told(
      evm(`{name: first, url: '${first.url}'}, {name: second, url: '${second.url}'}`),
    );
    for (const { usable, findings, checks } of all) {
      expect(usable).toBe(true);
      expect(checks.receipts).toEqual({ level: 'fail', text: 'new fork' });
      expect(findings.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(
          /^first and second return the same block \d+, .*\(inventedRoot\): the fork is unknown to this version\.$/,
        ),
      );
      expect(findings.some(({ message }) => message.includes('fail the proofs'))).toBe(false);
    }
    const { all: alone } = await told(evm(`{name: first, url: '${first.url}'}`));
    expect(alone[0]).toMatchObject({ usable: false, checks: { receipts: { level: 'fail', text: 'false' } } });
  });

  it('false and missing traces are found where the network keeps them', async () => {
    const path = [0, 'action', 'from'];
    const lying = await replay({
      faults: [{ do: 'tamper', when: { method: 'trace_block' }, path, value: `0x${'99'.repeat(20)}` }],
    });
    const keeping = await told(evm(`{url: '${lying.url}'}`));
    expect(keeping.code).toBe(69);
    expect(keeping.all[0]?.checks.traces).toMatchObject({ level: 'fail' });
    const without = await told(evm(`{url: '${lying.url}'}`, 'bundles: {kinds: [blocks]}, '));
    expect(without.code).toBe(0);
    const empty = await replay({ faults: [{ do: 'emptyTraces' }] });
    const { code, all } = await told(evm(`{url: '${empty.url}'}`));
    expect(code).toBe(2);
    expect(all[0]?.findings[0]?.message).toMatch(/Cannot fetch the traces .* no traces for \d+ transactions/);
  });

  it('says which methods, tag, traces and batches are missing, and that the network goes on', async () => {
    const poor = await replay({
      capabilities: {
        traceBlock: false,
        debugFlat: false,
        debugCall: false,
        finalizedTag: false,
        receiptsByBlock: false,
      },
      batch: { max: 1 },
    });
    const { code, all } = await told(evm(`{url: '${poor.url}'}`, 'finality: {depth: 2}, '));
    expect(code).toBe(2);
    expect(all[0]).toMatchObject({ usable: true });
    expect(levels(all[0] as Told)).toBe(
      'reach:ok chain:ok methods:warn behind:ok finalized:warn receipts:ok traces:warn batch:warn client:ok',
    );
    expect(all[0]?.findings.map(({ message }) => message).join(' ')).toMatch(
      /It does not support eth_getBlockReceipts\./,
    );
    const denied = await told(evm(`{url: '${poor.url}'}`, 'rpc: {deny: [eth_getBlockReceipts]}, '));
    expect(denied.all[0]?.checks.methods).toEqual({ level: 'ok', text: '26/26' });
  });

  it('asks for what the profile offers, and for what is allowed beside it', async () => {
    const node = await replay();
    const methods = async (rpc: string): Promise<string | undefined> =>
      (await told(evm(`{url: '${node.url}'}`, `rpc: {${rpc}}, `))).all[0]?.checks.methods?.text;
    expect(await methods('profile: wallets')).toBe('27/27');
    expect(await methods('profile: strict')).toBe('13/13');
    expect(await methods('profile: strict, allow: [eth_getBalance]')).toBe('14/14');
    expect(await methods('allow: [eth_sendRawTransaction]')).toBe('28/28');
  });

  it('ends in bounded time where a node leaves some questions open', async () => {
    const hanging = await replay({ faults: [{ do: 'hang', when: { method: 'eth_getBlockReceipts' } }] });
    const { code, all } = await told(evm(`{url: '${hanging.url}'}`), ['--timeout', '1000']);
    expect(code).toBe(2);
    expect(all[0]).toMatchObject({ usable: true });
    const said = all[0]?.findings.map(({ message }) => message).join(' ');
    expect(said).toMatch(/No JSON-RPC response to eth_getBlockReceipts/);
    expect(said).toMatch(/Cannot fetch the receipts of finalized block 12|checks did not finish/);
  });

  it('two branches below finality are told', async () => {
    const [one, two] = [await replay(), await replay()];
    const other = await replay({ blocks: generateChain({ length: 12, seed: 2 }) });
    const { code, all } = await told(evm([one, two, other].map(({ url }) => `{url: '${url}'}`).join(', ')));
    expect(code).toBe(2);
    expect(all.map(({ checks }) => checks.finalized?.level)).toEqual(['ok', 'ok', 'fail']);
  });

  it('ends with 69 where a network has nobody: refused, silent, of another network', async () => {
    const silent = await saying(200, null);
    const testnet = await answering('core.json', (text) => text.replaceAll('0x405', '0x1'));
    const networks =
      evm(`{name: gone, url: 'http://127.0.0.1:1'}, {name: silent, url: '${silent}'}`) +
      `  - {id: core, family: core, chainId: 1029, upstreams: [{url: '${testnet.url}'}]}\n`;
    const { code, all, result } = await told(networks, ['--timeout', '500']);
    expect(code).toBe(69);
    expect(result).toMatchObject({ unusableNetworks: ['main', 'core'], exitCode: 69 });
    expect(all.map(({ findings }) => findings[0]?.message)).toEqual([
      'It refused the connection (connection refused) for eth_chainId.',
      'It did not answer within 500 ms for eth_chainId.',
      'It serves network 1, but the networks file has 1029.',
    ]);
    const alone = await doctor(networks, ['--network', 'core', '--timeout', '500']);
    expect(alone.code).toBe(69);
    expect(alone.out).toMatch(/^fail: core\/upstream-1: It serves network 1.* correct chainId\.$/m);
    expect(alone.out).toMatch(/^core: no usable upstream\.$/m);
    expect(alone.out).not.toContain('main');
  });

  it('upstreams of a cell network that are on two chains are told', async () => {
    const [one, two] = [await answering('cell.json'), await answering('cell.json')];
    const other = await answering('cell.json', (text) => text.replace('"id":"ckb"', '"id":"ckb_testnet"'));
    const { code, all } = await told(
      `  - {id: cell, family: cell, upstreams: [${[one, two, other].map(({ url }) => `{url: '${url}'}`).join(', ')}]}\n`,
    );
    expect(code).toBe(2);
    expect(all.map(({ usable }) => usable)).toEqual([true, true, false]);
    expect(all[2]?.findings[0]?.message).toBe('It serves ckb_testnet, but other upstreams serve ckb.');
  });

  it('shows no credential, though nodes echo them', async () => {
    const error = { code: -32000, message: `bad key ${SECRET}` };
    const echo = await saying(200, JSON.stringify({ jsonrpc: '2.0', id: null, error }));
    const refusing = await saying(403, `no access for ${SECRET}`);
    const networks = evm(
      `{name: echo, url: '${echo}v2/${SECRET}'}, {name: refusing, url: '${refusing.replace('//', `//me:${SECRET}@`)}', headers: {X-Key: '${SECRET}'}}`,
    );
    for (const args of [[], ['--json']]) {
      const { code, out, err } = await doctor(networks, args);
      expect(code).toBe(69);
      expect(out + err).not.toContain(SECRET);
      expect(out).toMatch(/bad key \*\*\*/);
      expect(out).toMatch(/refused the credentials/);
    }
  });

  it('wants a file and a network that there are', async () => {
    expect(await run(['doctor'], { cwd: directory })).toMatchObject({
      code: 64,
      err: expect.stringContaining('There is no networks file'),
    });
    expect(await doctor(evm(`{url: 'http://127.0.0.1:1'}`), ['--network', 'moon'])).toMatchObject({
      code: 64,
      err: expect.stringContaining('It has main'),
    });
    expect((await doctor('  - {id: x}\n')).code).toBe(78);
  });
});
