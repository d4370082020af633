import { createProver } from '@packhouse/chain';
import { expect, it } from 'vitest';
import { type BlockLogs, checkLogs } from './check-logs.js';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const HASH = `0x${'1'.repeat(64)}`;
const LOG = {
  address: ADDRESS,
  topics: [HASH],
  data: '0x',
  logIndex: '0x0',
  blockNumber: '0x5',
  blockHash: HASH,
  transactionHash: `0x${'2'.repeat(64)}`,
  transactionIndex: '0x0',
  removed: false,
};
const prover = await createProver({
  header: 'recompute',
  transactions: 'recompute',
  receipts: 'recompute',
  senders: 'off',
  extraFields: 'keep',
});
const BLOOM = `0x${Buffer.from(prover.getBloom([LOG])).toString('hex')}`;

function check(
  logs: unknown,
  more: {
    final?: boolean;
    all?: BlockLogs | null;
    bloom?: string | null;
    known?: boolean;
    head?: number;
  } = {},
  filter: object = { fromBlock: '0x5', toBlock: '0x5' },
) {
  const { final = true, all = [LOG], bloom = BLOOM, known = true, head = 9 } = more;
  const byHash = 'blockHash' in filter;
  return checkLogs(logs, filter, [byHash ? HASH : '0x5'], {
    getBloom: prover.getBloom,
    getHeader: async () => (known ? { number: 5, hash: HASH, logsBloom: bloom } : undefined),
    getLogs: async () => all,
    isFinal: () => final,
    isBeyondHead: (number) => number > head,
  });
}

it('takes the logs that the block has', async () => {
  expect(await check([LOG])).toBeNull();
  expect(
    await check([], {}, { fromBlock: '0x5', toBlock: '0x5', address: [`0x${'cd'.repeat(20)}`] }),
  ).toBeNull();
  expect(await check([], {}, { fromBlock: '0x5', toBlock: '0x5', topics: [null, [HASH]] })).toBeNull();
  expect(await check([{ ...LOG, address: ADDRESS.toUpperCase().replace('0X', '0x') }])).toBeNull();
});

it('blames a node for what is missing only if it cannot know another block of that number', async () => {
  const reason = 'block 5 has 1 such logs, not 0';
  expect(await check([])).toEqual({ isFalse: true, reason });
  expect(await check([], { final: false })).toEqual({ isFalse: false, reason });
  expect(await check([], { final: false }, { blockHash: HASH })).toEqual({ isFalse: true, reason });
});

it.each<[string, unknown]>([
  ['another log', [{ ...LOG, data: '0x01' }]],
  ['other topics', [{ ...LOG, topics: [] }]],
  ['one too many', [LOG, LOG]],
  ['one of another block', [{ ...LOG, blockNumber: '0x6' }]],
  ['no list', {}],
  ['no log', [null]],
])('refuses %s', async (_, logs) => {
  expect(await check(logs, { final: false })).toMatchObject({ isFalse: true });
});

it('takes both readings of places for any topic behind the last one of a log', async () => {
  const filter = { fromBlock: '0x5', toBlock: '0x5', topics: [[HASH], null] };
  expect(await check([], {}, filter)).toBeNull();
  expect(await check([LOG], {}, filter)).toBeNull();
  expect(await check([{ ...LOG, data: '0x01' }], {}, filter)).toMatchObject({ isFalse: true });
});

it('takes a removed log only of a block that may be abandoned', async () => {
  const removed = [{ ...LOG, removed: true }];
  expect(await check(removed, { final: false }, { blockHash: HASH })).toBeNull();
  expect(await check(removed)).toMatchObject({ isFalse: true });
});

it('says nothing where the rules prove no logs, and passes nothing on that it cannot compare', async () => {
  expect(await check([], { bloom: null })).toBeNull();
  expect(await check([], { all: null })).toBeNull();
  expect(await check([], { known: false, head: 4 })).toBeNull();
  expect(await check([], { known: false })).toMatchObject({ isFalse: false });
  expect(await check([LOG], { known: false, head: 4 })).toMatchObject({ isFalse: false });
});
