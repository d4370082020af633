import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isAlive } from '@packhouse/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startDemoChain } from './demo-chain.js';
import { createJsonRpc, type JsonRpc } from './json-rpc.js';
import { quantity } from './transaction.js';

type DemoChain = Awaited<ReturnType<typeof startDemoChain>>;

const HISTORY = 12;
const NEVER_MS = 1_000_000;
const WAIT = { timeout: 120_000, interval: 20 };

let folder: string;
let started: { stop(): Promise<void> }[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-demo-'));
  started = [];
});
afterEach(async () => {
  for (const chain of started) await chain.stop();
  await rm(folder, { recursive: true });
});

async function start(
  name: string,
  options: { intervalMs?: number; reorgEveryMs?: number } = {},
): Promise<DemoChain> {
  const chain = await startDemoChain({
    directory: path.join(folder, name),
    historyBlocks: HISTORY,
    intervalMs: NEVER_MS,
    ...options,
  });
  started.push(chain);
  return chain;
}

async function withRpc<Result>(url: string, use: (rpc: JsonRpc) => Promise<Result>): Promise<Result> {
  const rpc = createJsonRpc(url);
  try {
    return await use(rpc);
  } finally {
    await rpc.close();
  }
}

/** Hashes of blocks 0 to `last`. */
function hashes(url: string, last: number): Promise<string[]> {
  return withRpc(url, async (rpc) => {
    const calls = Array.from({ length: last + 1 }, (_, number) => number).map(
      (number) => ['eth_getBlockByNumber', quantity(number), false] as const,
    );
    return ((await rpc.batch(calls)) as { hash: string }[]).map((block) => block.hash);
  });
}

const reached = (chain: DemoChain, block: number) =>
  vi.waitFor(() => expect(chain.head).toBeGreaterThanOrEqual(block), WAIT);

describe('the demo chain', () => {
  it('has the same hashes wherever it is made, live blocks and meddling strangers included', async () => {
    const one = await start('one', { intervalMs: 10 });
    await withRpc(one.url, async (rpc) => {
      const [from, , to] = (await rpc.call('eth_accounts')) as string[];
      const stranger = { from, to, value: '0x1', gas: '0x5208', gasPrice: '0xba43b7400' };
      for (let block = HISTORY; block < HISTORY + 10; block++) {
        await rpc.call('eth_sendTransaction', stranger).catch(() => {});
        await reached(one, block + 1);
      }
    });
    const two = await start('two', { intervalMs: 10 });
    await reached(two, HISTORY + 10);
    const expected = await hashes(one.url, HISTORY + 10);
    expect(new Set(expected).size).toBe(HISTORY + 11);
    expect(await hashes(two.url, HISTORY + 10)).toEqual(expected);
  });

  it('reorganises: newest blocks are replaced, final ones never, and the chain that stays is the same', async () => {
    const chain = await start('chain', { intervalMs: 10, reorgEveryMs: 50 });
    const newest = new Map<number, Set<string>>();
    const final = new Map<number, string>();
    await withRpc(chain.url, async (rpc) => {
      const look = async () => {
        const [head, anchor] = (await rpc.batch([
          ['eth_getBlockByNumber', 'latest', false],
          ['eth_getBlockByNumber', 'finalized', false],
        ])) as [{ number: string; hash: string }, { number: string; hash: string }];
        newest.set(Number(head.number), (newest.get(Number(head.number)) ?? new Set()).add(head.hash));
        expect(final.get(Number(anchor.number)) ?? anchor.hash).toBe(anchor.hash);
        final.set(Number(anchor.number), anchor.hash);
        return [...newest.values()].filter((each) => each.size > 1).length;
      };
      await vi.waitFor(async () => expect(await look()).toBeGreaterThan(3), { ...WAIT, interval: 3 });
    });
    const last = chain.head;
    const untouched = await start('untouched', { intervalMs: 1 });
    await reached(untouched, last);
    const expected = await hashes(untouched.url, last);
    expect(await hashes(chain.url, last)).toEqual(expected);
    for (const [number, hash] of final) expect(hash).toBe(expected[number]);
  });

  it('goes on where it was after its owner and then its node were killed', async () => {
    const directory = path.join(folder, 'chain');
    const module = pathToFileURL(path.join(import.meta.dirname, 'demo-chain.ts')).href;
    const script = `
      import { startDemoChain } from '${module}';
      const chain = await startDemoChain({ directory: ${JSON.stringify(directory)}, historyBlocks: ${HISTORY}, intervalMs: 10 });
      console.log(JSON.stringify({ url: chain.url, pid: chain.pid }));
    `;
    const owner = spawn(
      process.execPath,
      ['--conditions', '@packhouse/source', '--import', 'tsx', '--input-type', 'module', '-e', script],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = await once(owner.stdout.setEncoding('utf8'), 'data');
    const first = JSON.parse(line) as { url: string; pid: number };
    const head = () => withRpc(first.url, async (rpc) => Number(await rpc.call('eth_blockNumber')));
    await vi.waitFor(async () => expect(await head()).toBeGreaterThan(HISTORY + 10), WAIT);
    const last = await head();
    const before = await hashes(first.url, last);
    owner.kill('SIGKILL');
    await once(owner, 'exit');

    // The node ends with its owner; the next start does not wait for that.
    const again = await start('chain', { intervalMs: 10 });
    expect(isAlive(first.pid)).toBe(false);
    expect(again.head).toBeGreaterThanOrEqual(last);
    expect(await hashes(again.url, last)).toEqual(before);
    await reached(again, last + 5);
  });

  it('starts its node again when that is killed, at the same address, and loses no block', async () => {
    const chain = await start('chain', { intervalMs: 10 });
    await reached(chain, HISTORY + 5);
    const killed = chain.pid;
    const before = await hashes(chain.url, HISTORY + 5);
    process.kill(killed, 'SIGKILL');
    const last = chain.head;
    await reached(chain, last + 5);
    expect(chain.pid).not.toBe(killed);
    expect(await hashes(chain.url, HISTORY + 5)).toEqual(before);
  });

  it('makes a block again into which a stranger got a transaction', async () => {
    const chain = await start('chain', { intervalMs: 10 });
    await withRpc(chain.url, async (rpc) => {
      const [from, , to] = (await rpc.call('eth_accounts')) as string[];
      const stranger = { from, to, value: '0x1', gas: '0x5208', gasPrice: '0xba43b7400' };
      // Mined by the stranger's own hand: where the next planned block belongs.
      await rpc.call('eth_sendTransaction', stranger);
      await rpc.call('evm_mine');
    });
    await reached(chain, HISTORY + 10);
    const untouched = await start('untouched', { intervalMs: 10 });
    await reached(untouched, HISTORY + 10);
    expect(await hashes(chain.url, HISTORY + 10)).toEqual(await hashes(untouched.url, HISTORY + 10));
  });

  it('keeps the length of its history when a later start asks for another', async () => {
    const first = await start('chain', { intervalMs: 10 });
    await reached(first, HISTORY + 1);
    await first.stop();
    const second = await startDemoChain({
      directory: path.join(folder, 'chain'),
      historyBlocks: 2 * HISTORY,
      intervalMs: NEVER_MS,
    });
    started.push(second);
    expect(second.historyHead).toBe(HISTORY);
  });

  it('leaves no process behind when it stops, and stops twice', async () => {
    const chain = await start('chain', { intervalMs: 1 });
    await reached(chain, HISTORY + 2);
    await chain.stop();
    await chain.stop();
    expect(isAlive(chain.pid)).toBe(false);
  });

  it('makes no more blocks once its signal is aborted, and its node still answers', async () => {
    const controller = new AbortController();
    const chain = await startDemoChain({
      directory: path.join(folder, 'chain'),
      historyBlocks: HISTORY,
      intervalMs: 1,
      signal: controller.signal,
    });
    started.push(chain);
    await reached(chain, HISTORY + 1);
    controller.abort();
    expect((await hashes(chain.url, HISTORY)).length).toBe(HISTORY + 1);
    const ended = new AbortController();
    ended.abort(new Error('not today'));
    await expect(
      startDemoChain({ directory: path.join(folder, 'other'), signal: ended.signal }),
    ).rejects.toThrow('not today');
  });

  it('refuses a folder whose chain comes out differently, and one it cannot read', async () => {
    const chain = await start('chain', { intervalMs: 10 });
    await reached(chain, HISTORY + 1);
    await chain.stop();
    const file = path.join(folder, 'chain', 'chain.json');
    const content = JSON.parse(await readFile(file, 'utf8'));
    const refused = async (text: string, code: string, message: RegExp) => {
      await writeFile(file, text);
      await expect(start('chain')).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    };
    content.checkpoint.hash = `0x${'0'.repeat(64)}`;
    await refused(
      JSON.stringify(content),
      'DATA_DIR_UNUSABLE',
      /made by another version: its block \d+ was 0x0/,
    );
    await refused('{', 'DATA_DIR_UNUSABLE', /is not JSON/);
    await refused('{"version":1}', 'DATA_DIR_UNUSABLE', /lacks the fields/);
    await refused(JSON.stringify({ ...content, version: 2 }), 'DATA_DIR_NEWER', /newer version/);
  });

  it('is told apart from a chain of one block more only by that block', async () => {
    const short = await start('short');
    const long = await startDemoChain({
      directory: path.join(folder, 'long'),
      historyBlocks: HISTORY + 1,
      intervalMs: NEVER_MS,
    });
    started.push(long);
    expect(await hashes(long.url, HISTORY)).toEqual(await hashes(short.url, HISTORY));
  });
});
