import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  createReplayNode,
  type FaultRule,
  generateChain,
  type RecordedBlock,
  type ReplayNode,
  type ReplayNodeOptions,
} from '@packhouse/replay-node';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLONE, GIVEN, getGiven, type Recorded } from '../recordings.js';
import { countBlocks, type RecordingList, readList } from './list.js';
import { makeList } from './make-list.js';
import { openNode } from './node.js';
import { type RecordResult, record } from './record.js';

const LIST = fileURLToPath(new URL('../../list.json', import.meta.url));
const scratch = mkdtempSync(path.join(tmpdir(), 'record-'));
const source = path.join(scratch, 'source');
/** Blocks in a row without traces, whose total difficulty is that of the merge. */
const run = generateChain({ length: 70, startNumber: 500, txsPerBlock: 1 }).map(
  ({ number, block, receipts }): object => ({
    number,
    block: { ...block, totalDifficulty: '0xc70d815d562d3cfa955' },
    receipts,
  }),
) as Recorded[];
/** Before and after Byzantium; the last two have traces. */
const NUMBERS = [47_218, 4_662_649, 1_000_000, 12_900_060];
const forks = CLONE.blocks('forks').filter(({ number }) => NUMBERS.includes(number));
const blocks = [...forks, ...run] as unknown as RecordedBlock[];

let list: RecordingList;
let node: ReplayNode | undefined;
beforeAll(async () => {
  write(source, 'forks', forks);
  write(source, 'run', run);
  list = await makeList(source);
  return () => rmSync(scratch, { recursive: true });
});
afterEach(() => node?.close());

function write(folder: string, name: string, rows: readonly object[]): void {
  mkdirSync(folder, { recursive: true });
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(path.join(folder, `${name}.jsonl.gz`), gzipSync(text));
}

function read(folder: string, name: string): string {
  const file = path.join(folder, `${name}.jsonl.gz`);
  return existsSync(file) ? gunzipSync(readFileSync(file)).toString() : '';
}

function readNumbers(folder: string, name: string): number[] {
  const lines = read(folder, name).split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as Recorded).number);
}

/** Starts a node and records from it. */
async function recordFrom(options: ReplayNodeOptions, folder: string, more: More = {}) {
  await node?.close();
  node = await createReplayNode({ blocks, ...options });
  return recordAt(node.url, folder, more);
}

interface More {
  signal?: AbortSignal;
  list?: RecordingList;
}

async function recordAt(url: string, folder: string, more: More = {}) {
  const { signal = new AbortController().signal } = more;
  const said: string[] = [];
  const asked = openNode({ url, signal, pauseMs: 1, timeoutMs: 20_000 });
  try {
    const result: RecordResult = await record({
      list: more.list ?? list,
      node: asked,
      folder,
      say: (line) => void said.push(line),
      signal,
    });
    return { result, said: said.join('\n') };
  } finally {
    await asked.close();
  }
}

let folders = 0;
function newFolder(): string {
  folders += 1;
  return path.join(scratch, `out-${folders}`);
}

const total = forks.length + run.length;

describe('the recorder', () => {
  it('writes the blocks of the list as they were, and asks nothing of them again', async () => {
    const folder = newFolder();
    const first = await recordFrom({}, folder);
    expect(first.result).toEqual({ chainId: 1, recorded: total, kept: 0, failed: 0 });
    expect(node?.stats().mostInFlight).toBeLessThanOrEqual(4);
    for (const name of ['forks', 'run']) expect(read(folder, name)).toBe(read(source, name));
    const bytes = readFileSync(path.join(folder, 'run.jsonl.gz'));
    const again = await recordFrom({}, folder);
    expect(again.result).toMatchObject({ recorded: 0, kept: total });
    expect(node?.stats().callsByMethod).toEqual({ eth_chainId: 1 });
    const other = newFolder();
    await recordFrom({}, other);
    expect(readFileSync(path.join(other, 'run.jsonl.gz'))).toEqual(bytes);
  });

  it('asks for receipts one by one if the node has no method for all', async () => {
    const folder = newFolder();
    const { result } = await recordFrom({ capabilities: { receiptsByBlock: false } }, folder);
    expect(result).toMatchObject({ recorded: total, failed: 0 });
    expect(read(folder, 'forks')).toBe(read(source, 'forks'));
  });

  it('writes the total difficulty of the list where the node has none', async () => {
    const folder = newFolder();
    const without = blocks.map((each) => {
      const { totalDifficulty: _, ...block } = each.block;
      return { ...each, block } as RecordedBlock;
    });
    expect((await recordFrom({ blocks: without }, folder)).result).toMatchObject({ failed: 0 });
    expect(JSON.parse(read(folder, 'run').split('\n')[0] as string).block.totalDifficulty).toBe(
      '0xc70d815d562d3cfa955',
    );
  });

  it('asks again after faults that pass', async () => {
    const when = (nth: number) => ({ method: 'eth_getBlockByNumber', nth });
    const faults: FaultRule[] = [
      { do: 'http429', ms: 0, when: when(2) },
      { do: 'http500', when: when(4) },
      { do: 'html', when: when(6) },
      { do: 'truncate', when: when(8) },
      { do: 'reset', when: when(10) },
    ];
    expect((await recordFrom({ faults }, newFolder())).result).toMatchObject({ recorded: total, failed: 0 });
  });

  it.each<[string, FaultRule, RegExp]>([
    ['a value', tamper('eth_getBlockByNumber', ['transactions', 0, 'value'], '0x7'), /hash|transaction/],
    ['a sender', tamper('eth_getBlockByNumber', ['transactions', 0, 'from'], flip), /from|sender|sign/],
    ['a header', tamper('eth_getBlockByNumber', ['gasUsed'], '0x7'), /header hashes to/],
    ['a whole block', { do: 'wrongBlock', when: { method: 'eth_getBlockByNumber', block: 12_900_060 } }, /./],
    [
      'a total difficulty',
      tamper('eth_getBlockByNumber', ['totalDifficulty'], '0x7'),
      /totalDifficulty is 0x7/,
    ],
    ['a receipt', tamper('eth_getBlockReceipts', [0, 'cumulativeGasUsed'], '0x7'), /gas|receipt/i],
    [
      'a trace',
      tamper('trace_block', [0, 'action', 'gas'], '0x7'),
      /SHA-256 of the canonical text of the traces/,
    ],
    ['no traces', { do: 'emptyTraces', when: { block: 12_900_060 } }, /trace/],
  ])('names %s that is false, and writes nothing of that block', async (_, fault, sentence) => {
    const folder = newFolder();
    const { result, said } = await recordFrom({ faults: [fault] }, folder);
    expect(result).toMatchObject({ recorded: total - 1, failed: 1 });
    const [refusal = ''] = said
      .split('\n')
      .filter((line) => line.startsWith('forks: ') && line.includes('['));
    expect(refusal).toContain('lock 12900060');
    expect(refusal).toMatch(sentence);
    expect(readNumbers(folder, 'forks')).toEqual(
      forks.map(({ number }) => number).filter((number) => number !== 12_900_060),
    );
  });

  it('of blocks in a row leaves out those that a false one would prove, and no others', async () => {
    const folder = newFolder();
    const faults: FaultRule[] = [{ do: 'nullBlock', when: { block: 510 } }];
    const { result, said } = await recordFrom({ faults }, folder);
    expect(result.failed).toBe(11);
    expect(said).toContain('Block 510 of ethereum: the node has no such block. Use an archive node');
    expect(said).toContain('Blocks 500 to 509 are left out too: block 510 proves them.');
    expect(readNumbers(folder, 'run')).toEqual(Array.from({ length: 59 }, (_, at) => 511 + at));
    // A false receipt says nothing about the header, which names the block before it.
    const receipts: FaultRule[] = [tamper('eth_getBlockReceipts', [0, 'gasUsed'], '0x7', 510)];
    expect((await recordFrom({ faults: receipts }, folder)).result).toMatchObject({
      failed: 1,
      recorded: 10,
    });
    expect(readNumbers(folder, 'run')).not.toContain(510);
    expect((await recordFrom({}, folder)).result).toMatchObject({ failed: 0, recorded: 1 });
    expect(read(folder, 'run')).toBe(read(source, 'run'));
  });

  it('knows the total difficulty of each block in a row from that of the last one', async () => {
    const early = CLONE.blocks('early').slice(0, 80);
    const [from, folder] = [newFolder(), newFolder()];
    // The lines of a file with blocks of several networks begin with the name of theirs.
    write(
      from,
      'early',
      early.map((row) => ({ net: 'sepolia', ...row })),
    );
    const ofEarly = await makeList(from);
    expect(ofEarly.files[0]?.rows).toMatchObject([{ from: early[0]?.number, to: early.at(-1)?.number }]);
    const options = { blocks: early as unknown as RecordedBlock[], chainId: 11_155_111 };
    const { number } = early[40] as Recorded;
    const faults = [tamper('eth_getBlockByNumber', ['totalDifficulty'], '0x7', number)];
    const { said } = await recordFrom({ ...options, faults }, folder, { list: ofEarly });
    expect(said).toContain(`Block ${number} of sepolia: totalDifficulty is 0x7, the list says 0x`);
    await recordFrom(options, folder, { list: ofEarly });
    expect(node?.stats().callsByMethod).toEqual({ eth_chainId: 1, eth_getBlockByNumber: 41 });
    expect(read(folder, 'early')).toBe(read(from, 'early'));
  });

  it('goes on after it was stopped, without asking for what it has', async () => {
    const folder = newFolder();
    const stop = new AbortController();
    let calls = 0;
    const observe = (): void => {
      calls += 1;
      if (calls === 40) stop.abort(new Error('stopped'));
    };
    await expect(recordFrom({ observe }, folder, { signal: stop.signal })).rejects.toThrow('stopped');
    const kept = readNumbers(folder, 'forks').length + readNumbers(folder, 'run').length;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(total);
    const { result } = await recordFrom({}, folder);
    expect(result).toMatchObject({ kept, recorded: total - kept });
    expect(node?.stats().callsByMethod.eth_getBlockByNumber).toBe(total - kept);
    expect(read(folder, 'forks')).toBe(read(source, 'forks'));
  });

  it('keeps the blocks of other chains, and replaces what is false in the folder', async () => {
    const folder = newFolder();
    const [first, ...rest] = forks as [Recorded, ...Recorded[]];
    const foreign = { net: 'gnosis', number: 5, block: { transactions: [] } };
    write(folder, 'forks', [foreign, { ...first, block: { ...first.block, gasUsed: '0x7' } }, ...rest]);
    expect((await recordFrom({}, folder)).result).toMatchObject({ recorded: run.length + 1 });
    expect(read(folder, 'forks')).toBe(`${read(source, 'forks')}${JSON.stringify(foreign)}\n`);
  });

  it('says in a sentence why a node cannot be recorded from', async () => {
    const folder = newFolder();
    await expect(recordFrom({ chainId: 5 }, folder)).rejects.toMatchObject({
      exitCode: 64,
      message: `The node is on chain 5, of which the list has no blocks; it has ${total} of chain 1 (ethereum).`,
    });
    await expect(recordFrom({ faults: [{ do: 'html' }] }, folder)).rejects.toMatchObject({ exitCode: 69 });
    const faults: FaultRule[] = [
      { do: 'rpcError', message: 'missing trie node 1234', when: { method: 'trace_block' } },
    ];
    const { said } = await recordFrom({ faults }, folder);
    expect(said).toMatch(/missing trie node.*archive node/);
    const secret = 'http://user:long-password@127.0.0.1:1/v3/long-key-of-a-provider';
    const refusal = await recordAt(secret, folder).catch((error: Error) => error);
    expect(refusal).toMatchObject({ exitCode: 69, code: 'NODE_UNREACHABLE' });
    expect(String(refusal)).not.toMatch(/long-/);
    writeFileSync(path.join(scratch, 'file'), '');
    await expect(recordFrom({}, path.join(scratch, 'file'))).rejects.toMatchObject({ exitCode: 73 });
  });
});

function tamper(method: string, at: (string | number)[], value: unknown, block = 12_900_060): FaultRule {
  return { do: 'tamper', path: at, value, when: { method, block } };
}

function flip(address: string): string {
  return `${address.slice(0, -1)}${address.endsWith('0') ? '1' : '0'}`;
}

describe('the list', () => {
  it('has one row for many blocks that name each other', () => {
    const rows = list.files.find(({ file }) => file === 'run')?.rows;
    expect(rows).toEqual([
      {
        network: 'ethereum',
        chainId: 1,
        from: 500,
        to: 569,
        hash: run.at(-1)?.block.hash,
        totalDifficulty: '0xc70d815d562d3cfa955',
        receipts: true,
      },
    ]);
  });

  it.each([
    ['{', 'is not JSON'],
    ['{"files":[{"file":"a","net":false,"rows":[],"more":1}]}', 'Unrecognized key: "more" at files.0.'],
    ['{"files":[{"file":"../a","net":false,"rows":[]}]}', 'files.0.file'],
  ])('of %s is refused', async (text, sentence) => {
    const file = path.join(scratch, 'list.json');
    writeFileSync(file, text);
    const refusal: unknown = await readList(file).catch((error) => error);
    expect(refusal).toMatchObject({ exitCode: 64, message: expect.stringContaining(sentence) });
  });

  it('of the repository is small enough to be read', async () => {
    expect(readFileSync(LIST).length).toBeLessThan(40_000);
    const rows = (await readList(LIST)).files.flatMap((each) => each.rows);
    expect(rows.reduce((sum, row) => sum + countBlocks(row), 0)).toBe(8_252);
  });

  it.skipIf(GIVEN === null)(
    'has each block of a folder of recordings, with its hash and those of its parts (needs RECORDINGS)',
    async () => {
      const ours = await readList(LIST);
      const found = await makeList(path.dirname(getGiven().path('forks')));
      for (const { file, net, rows } of found.files) {
        const listed = ours.files.find((each) => each.file === file);
        expect(listed, file).toMatchObject({ net });
        for (const { missing: _, ...row } of rows) {
          // What a folder that was recorded anew lacks is missing there by right.
          const { missing: __, ...same } = listed?.rows.find(({ hash }) => hash === row.hash) ?? {};
          expect(row, file).toEqual(same);
        }
      }
    },
  );
});

describe('its program', () => {
  const MAIN = fileURLToPath(new URL('../../dist/record/main.js', import.meta.url));
  const start = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], {
      encoding: 'utf8',
      env: { ...process.env, RECORDINGS: '' },
    });

  it.each<[string, string[], string]>([
    ['no folder', ['--rpc', 'http://127.0.0.1:1'], '--out FOLDER is missing'],
    ['a strange address', ['--rpc', 'ws://u:long-secret@h/', '--out', scratch], 'ws://***@h/'],
    ['no list', ['--rpc', 'http://127.0.0.1:1', '--out', scratch, '--list', '/nowhere'], 'ENOENT'],
  ])('given %s says so in a sentence, and ends', (_, args, sentence) => {
    const ended = start(...args);
    expect(ended.stderr).toContain(sentence);
    expect(ended.stderr).not.toMatch(/long-secret|^ {4}at /m);
    expect(ended.status).toBe(64);
  });

  it('prints what it can do', () => {
    expect(start('--help').stdout).toContain('npm run record -- --rpc URL');
  });
});
