import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { memoryIo } from '../../testing/run.js';
import { readFilter } from './filter.js';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const LINES =
  'event Transfer(address indexed from, address indexed to, uint256 value)\nevent Other(bool a)\n';
const token = `0x${'aa'.repeat(20)}`;
let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'packhouse-filter-'));
  await writeFile(path.join(cwd, 'erc20.txt'), LINES);
});
afterEach(() => rm(cwd, { recursive: true }));

const read = (
  options: { address?: string[]; topic?: string[]; abi?: string },
  kind: 'logs' | 'traces' = 'logs',
) => readFilter(memoryIo({ cwd }).io, { kind, peer: undefined }, { address: [], topic: [], ...options });

it('accounts and events are read, names by the ABI, whose other events get no columns', async () => {
  const { match, decoder } = await read({
    address: [`${token.toUpperCase().replace('X', 'x')},${token}`],
    topic: ['Transfer'],
    abi: 'erc20.txt',
  });
  expect(match).toEqual({ addresses: [token], topics: [[TRANSFER]] });
  const { columns } = decoder?.schema({ name: 'logs-1', kind: 'logs', columns: [] }) ?? {};
  expect(columns?.map(({ name }) => name)).toEqual([
    'event',
    'arg_from',
    'arg_to',
    'arg_value',
    'arg_value_double',
    'arg_value_text',
  ]);
  expect(await read({})).toEqual({ match: {} });
  expect(await read({ address: [token] }, 'traces')).toEqual({ match: { addresses: [token] } });
});

it.each<[Parameters<typeof read>[0], 'logs' | 'traces', string, RegExp]>([
  [{ topic: ['Transfer'] }, 'logs', 'USAGE', /"Transfer" is no topic/],
  [{ topic: [TRANSFER] }, 'traces', 'USAGE', /--topic is for logs, but --kinds is traces/],
  [{ abi: 'erc20.txt' }, 'traces', 'USAGE', /--abi is for logs/],
  [{ abi: 'none.json' }, 'logs', 'USAGE', /Cannot read none\.json of --abi/],
  [
    { abi: 'erc20.txt', topic: ['Approval'] },
    'logs',
    'ABI_INVALID',
    /has no event Approval; it has Transfer, Other/,
  ],
  [{ address: ['usdt'] }, 'logs', 'USAGE', /"usdt" is not an address/],
])('%j of %s is refused: %s', async (options, kind, code, sentence) => {
  await expect(read(options, kind)).rejects.toMatchObject({ code, message: expect.stringMatching(sentence) });
});
