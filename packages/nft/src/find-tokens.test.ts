import { coreAddressHex } from '@packhouse/chain';
import { abiUints, abiWords, contractAt, TRANSFER_TOPICS, toBase32, userAt } from '@packhouse/replay-node';
import { expect, it } from 'vitest';
import type { CoreNode } from './core-node.js';
import { findTokens, JOB_TOKENS } from './find-tokens.js';

const signal = new AbortController().signal;
const word = (hex: string) => `0x${hex.padStart(64, '0')}`;
const topic = (address: string) => word(coreAddressHex(address));
const [from, me] = [userAt(1), userAt(2)];

const transfer = (epoch: number, contract: string, id: number, to = me) => ({
  address: contract,
  data: '0x',
  epochNumber: `0x${epoch.toString(16)}`,
  topics: [TRANSFER_TOPICS.erc721, topic(from), topic(to), word(id.toString(16))],
});
const multi = (epoch: number, contract: string, ids: number[], to = me) => ({
  address: contract,
  epochNumber: `0x${epoch.toString(16)}`,
  data:
    ids.length === 1
      ? abiWords(ids[0] as number, 5)
      : abiUints(
          ids.map(BigInt),
          ids.map(() => 1n),
        ),
  topics: [
    ids.length === 1 ? TRANSFER_TOPICS.single : TRANSFER_TOPICS.batch,
    topic(from),
    topic(from),
    topic(to),
  ],
});

/** A node with these logs that accepts ranges of so many epochs and answers calls of contracts by `call`. */
function nodeWith(
  logs: ReturnType<typeof transfer>[],
  options: { head?: number; widest?: number; call?: CoreNode['call'] } = {},
) {
  const ranges: [number, number][] = [];
  const node: CoreNode = {
    epoch: async () => options.head ?? 1_000_000,
    call: options.call ?? (async () => ({ reverted: true })),
    logs: async (filter) => {
      const { fromEpoch, toEpoch, topics, address } = filter as Record<string, string> & {
        topics: unknown[];
      };
      const [first, last] = [Number(fromEpoch), Number(toEpoch)];
      if (last - first + 1 > (options.widest ?? Number.POSITIVE_INFINITY)) return null;
      ranges.push([first, last]);
      return logs
        .filter(({ epochNumber }) => Number(epochNumber) >= first && Number(epochNumber) <= last)
        .filter((log) => address === undefined || address.includes(log.address))
        .filter((log) => topics.every((want, at) => want === null || [want].flat().includes(log.topics[at])));
    },
  };
  return { node, ranges };
}

it('finds a contract’s tokens of both standards, those that moved last first, each once', async () => {
  const a = contractAt(1);
  const { node } = nodeWith([
    transfer(1, a, 1),
    transfer(5, a, 2),
    transfer(900_000, a, 1),
    multi(950_000, a, [7]),
    multi(990_000, a, [8, 9, 8]),
    transfer(999_999, contractAt(2), 3),
  ]);
  const found = await findTokens(node, { contract: a }, 1029, signal);
  expect(found.complete).toBe(true);
  expect(found.tokens.map(({ tokenId }) => tokenId)).toEqual(['0x8', '0x9', '0x7', '0x1', '0x2']);
});

it('takes 200 and says that there are more', async () => {
  const a = contractAt(1);
  const all = Array.from({ length: JOB_TOKENS + 1 }, (_, n) => transfer(n, a, n));
  const most = await findTokens(nodeWith(all).node, { contract: a }, 1029, signal);
  expect(most).toMatchObject({ complete: false });
  expect(most.tokens).toHaveLength(JOB_TOKENS);
  expect(most.tokens[0]?.tokenId).toBe('0xc8');
  const exactly = await findTokens(nodeWith(all.slice(1)).node, { contract: a }, 1029, signal);
  expect(exactly.tokens).toHaveLength(JOB_TOKENS);
  expect(exactly.complete).toBe(true);
});

it('asks for fewer epochs where the nodes refuse, and misses none of them', async () => {
  const a = contractAt(1);
  const { node, ranges } = nodeWith([transfer(0, a, 1), transfer(49_999, a, 2), transfer(100_000, a, 3)], {
    head: 100_000,
    widest: 1_000,
  });
  const found = await findTokens(node, { contract: a }, 1029, signal);
  expect(found).toEqual({
    tokens: ['0x3', '0x2', '0x1'].map((tokenId) => ({ contract: a, tokenId })),
    complete: true,
  });
  let next = 100_000;
  for (const [first, last] of ranges) {
    expect(last).toBe(next);
    next = first - 1;
  }
  expect(next).toBe(-1);
});

it('gives up a chain that is too long for what the nodes take, and says so', async () => {
  const { node, ranges } = nodeWith([], { head: 100_000_000, widest: 1_000 });
  expect(await findTokens(node, { contract: contractAt(1) }, 1029, signal)).toEqual({
    tokens: [],
    complete: false,
  });
  expect(ranges.length).toBeLessThanOrEqual(256);
});

it('puts off what the nodes refuse epoch by epoch', async () => {
  const { node } = nodeWith([], { widest: 0 });
  await expect(findTokens(node, { contract: contractAt(1) }, 1029, signal)).rejects.toThrow('single epoch');
});

it('finds what an owner has now: not what went on, not what is no token', async () => {
  const [nfts, multis, coins] = [contractAt(1), contractAt(2), contractAt(3)];
  const coin = transfer(800, coins, 1);
  const logs = [
    transfer(100, nfts, 1),
    transfer(200, nfts, 2),
    multi(300, multis, [3]),
    multi(400, multis, [4, 5]),
    { ...coin, topics: coin.topics.slice(0, 3) },
    { ...transfer(900, nfts, 6), address: '0x1234' },
    transfer(901, nfts, 7, from),
  ];
  const owners: Record<string, bigint> = {
    [`${nfts} 1`]: BigInt(topic(me)),
    [`${nfts} 2`]: BigInt(topic(from)),
  };
  const balances: Record<string, bigint> = { [`${multis} 3`]: 1n, [`${multis} 4`]: 0n, [`${multis} 5`]: 9n };
  const { node } = nodeWith(logs, {
    call: async (to, data) => {
      const id = BigInt(`0x${data.slice(-64)}`);
      if (data.startsWith('0x01ffc9a7')) {
        const is = data.slice(10, 18) === (to === nfts ? '80ac58cd' : 'd9b67a26');
        return { data: abiWords(is ? 1 : 0) };
      }
      if (data.startsWith('0x00fdd58e')) {
        expect(`0x${data.slice(10, 74)}`).toBe(topic(me));
        return { data: abiWords(balances[`${to} ${id}`] ?? 0n) };
      }
      return { data: abiWords(owners[`${to} ${id}`] ?? 0n) };
    },
  });
  const { tokens, complete } = await findTokens(node, { owner: me }, 1029, signal);
  expect(tokens).toEqual([
    { contract: multis, tokenId: '0x5' },
    { contract: multis, tokenId: '0x3' },
    { contract: nfts, tokenId: '0x1' },
  ]);
  expect(complete).toBe(true);
  expect(toBase32(coreAddressHex(me))).toBe(me);
});
