import { gzipSync } from 'node:zlib';
import { canonicalRecord, type Kind } from '@packhouse/chain';
import { ALL } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { readCodedRows } from '../records/read-rows.js';
import type { Column } from '../records/schema.js';
import { readTransfers, TRANSFER_PARTS, withTransferParts } from './read-transfers.js';

type Row = Record<string, Column[number]>;
// biome-ignore lint/suspicious/noExplicitAny: JSON of nodes, whose form is what is tested
type Json = Record<string, any>;

/** Records of the same blocks, by kind. */
type Chain = Partial<Record<'logs' | 'traces' | 'blocks', readonly unknown[]>>;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe';

const account = (digit: string): string => `0x${digit.repeat(40)}`;
const [ANN, BOB, COIN] = [account('a'), account('b'), account('c')];
const topic = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`;
const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const FIRST = 7;

async function getTransfers(
  chain: Chain,
  schemaOf = (kind: keyof Chain) => TRANSFER_PARTS[kind],
): Promise<Row[]> {
  const read = (kind: keyof Chain) => {
    if (chain[kind] === undefined) return undefined;
    const bytes = gzipSync(`[${chain[kind].map((record) => JSON.stringify(record)).join(',')}]`);
    const times = async () => chain[kind]?.map((_, at) => 1_700_000_000 + at) ?? null;
    return readCodedRows({ bytes, kind, chainId: 1, schema: schemaOf(kind), fileFrom: FIRST, times });
  };
  const rows: Row[] = [];
  const sources = { logs: read('logs'), traces: read('traces'), blocks: read('blocks') };
  const given = Object.fromEntries(Object.entries(sources).filter(([, source]) => source !== undefined));
  for await (const batch of readTransfers(given, 1)) {
    for (let row = 0; row < batch.rows; row += 1) {
      const values = Object.entries(batch.columns).map(([name, column]) => [name, column[row] as never]);
      rows.push(Object.fromEntries(values));
    }
  }
  return rows;
}

let logIndex = 0;
function log(topics: readonly string[], data: string, more: Json = {}): Json {
  return {
    removed: false,
    logIndex: `0x${(logIndex++).toString(16)}`,
    transactionIndex: '0x0',
    transactionHash: `0x${'1'.repeat(64)}`,
    blockHash: `0x${'2'.repeat(64)}`,
    blockNumber: '0x7',
    address: COIN,
    data,
    topics,
    ...more,
  };
}

function trace(address: readonly number[], action: Json, more: Json = {}): Json {
  return {
    action: { callType: 'call', from: ANN, to: BOB, gas: '0x0', value: '0x5', input: '0x', ...action },
    result: { gasUsed: '0x0', output: '0x' },
    blockHash: `0x${'2'.repeat(64)}`,
    blockNumber: FIRST,
    subtraces: 0,
    traceAddress: address,
    transactionHash: `0x${'1'.repeat(64)}`,
    transactionPosition: 0,
    type: 'call',
    ...more,
  };
}

const toShort = ({ standard, source, from_address, to_address, value_text, token_id }: Row): string =>
  [standard, source, from_address ?? '-', to_address, value_text, token_id ?? ''].join(' ').trim();

describe('logs', () => {
  const parties = [topic(ANN), topic(BOB)];
  const ofLogs = async (...logs: Json[]): Promise<string[]> =>
    (await getTransfers({ logs: [logs] })).map(toShort);

  it('of ERC-20, ERC-721 and ERC-1155 are told apart by topics and data', async () => {
    const arrays = `0x${word(64)}${word(160)}${word(2)}${word(8)}${word(9)}${word(2)}${word(80)}${word(90)}`;
    const found = await ofLogs(
      log([TRANSFER, ...parties], `0x${word(3)}`),
      log([TRANSFER, ...parties, `0x${word(4)}`], '0x'),
      log([SINGLE, topic(COIN), ...parties], `0x${word(6)}${word(7)}`),
      log([BATCH, topic(COIN), ...parties], arrays),
    );
    expect(found).toEqual([
      `erc20 log ${ANN} ${BOB} 3`,
      `erc721 log ${ANN} ${BOB} 1 4`,
      `erc1155 log ${ANN} ${BOB} 7 6`,
      `erc1155 log ${ANN} ${BOB} 80 8`,
      `erc1155 log ${ANN} ${BOB} 90 9`,
    ]);
  });

  it('keep values of 256 bits and values of zero', async () => {
    const most = 2n ** 256n - 1n;
    const [row, none] = await getTransfers({
      logs: [[log([TRANSFER, ...parties], `0x${word(most)}`), log([TRANSFER, ...parties], `0x${word(0)}`)]],
    });
    expect([row?.value, row?.value_text, row?.value_double]).toEqual([null, `${most}`, Number(most)]);
    expect(none?.value).toBe(0n);
  });

  it.each([
    ['without topics of accounts', [TRANSFER], `0x${word(1)}${word(2)}${word(3)}`],
    ['with two topics', [TRANSFER, topic(ANN)], `0x${word(1)}`],
    ['with two words', [TRANSFER, ...parties], `0x${word(1)}${word(1)}`],
    ['without data', [TRANSFER, ...parties], '0x'],
    ['of a token with data', [TRANSFER, ...parties, `0x${word(4)}`], `0x${word(1)}`],
    ['from what is no address', [TRANSFER, `0x${word(2n ** 160n)}`, topic(BOB)], `0x${word(1)}`],
    ['single with one word', [SINGLE, topic(COIN), ...parties], `0x${word(1)}`],
    [
      'of arrays of different lengths',
      [BATCH, topic(COIN), ...parties],
      `0x${word(64)}${word(128)}${word(1)}${word(1)}${word(0)}`,
    ],
    [
      'of an array behind the end',
      [BATCH, topic(COIN), ...parties],
      `0x${word(64)}${word(64)}${word(2n ** 200n)}`,
    ],
    ['of an array before its start', [BATCH, topic(COIN), ...parties], `0x${word(0)}${word(0)}`],
    ['of part of a word', [BATCH, topic(COIN), ...parties], `0x${word(64)}${word(64)}${word(0)}00`],
    ['of no words', [BATCH, topic(COIN), ...parties], '0x'],
    ['of another event', [`0x${word(1)}`, ...parties], `0x${word(1)}`],
  ])('%s are no transfers', async (_, topics, data) => {
    expect(await ofLogs(log(topics, data))).toEqual([]);
  });
});

describe('traces', () => {
  const ofTraces = async (...traces: Json[]): Promise<string[]> =>
    (await getTransfers({ logs: [[]], traces: [traces] })).map(toShort);

  it('of calls, creations and self-destructs move value; of the code of others, rewards and nothing do not', async () => {
    const found = await ofTraces(
      trace([], {}),
      trace([0], { value: '0x0' }),
      trace([1], { callType: 'delegatecall' }),
      trace([2], { callType: 'callcode' }),
      trace([3], { callType: 'staticcall' }),
      trace([4], { to: ANN }),
      trace(
        [5],
        {},
        {
          type: 'create',
          action: { from: ANN, gas: '0x0', value: '0x6', init: '0x' },
          result: { gasUsed: '0x0', address: COIN, code: '0x' },
        },
      ),
      trace(
        [6],
        {},
        { type: 'suicide', action: { address: COIN, refundAddress: ANN, balance: '0x7' }, result: null },
      ),
      trace(
        [7],
        {},
        { type: 'suicide', action: { address: COIN, refundAddress: COIN, balance: '0x7' }, result: null },
      ),
      trace(
        [],
        {},
        {
          type: 'reward',
          action: { author: ANN, rewardType: 'block', value: '0x9' },
          transactionPosition: null,
          transactionHash: null,
          result: null,
        },
      ),
    );
    expect(found).toEqual([
      `native trace ${ANN} ${BOB} 5`,
      `native trace ${ANN} ${COIN} 6`,
      `native trace ${COIN} ${ANN} 7`,
    ]);
  });

  it('that failed move nothing, nor do those within', async () => {
    const error = { error: 'Reverted' };
    const paths = (await getTransfers({
      traces: [
        [
          trace([], {}),
          trace([1], {}, error),
          trace([1, 0], {}),
          trace([1, 0, 3], {}),
          trace([10], {}),
          trace([], {}, { transactionPosition: 1, ...error }),
          trace([0], {}, { transactionPosition: 1 }),
          trace([], {}, { transactionPosition: 2 }),
        ],
      ],
    })) as Row[];
    expect(paths.map((row) => `${row.transaction_index}${row.trace_address}`)).toEqual([
      '0[]',
      '0[10]',
      '2[]',
    ]);
  });

  it('that succeeded without a recipient are refused', async () => {
    await expect(
      ofTraces(trace([], {}, { action: { callType: 'call', from: ANN, value: '0x1' } })),
    ).rejects.toMatchObject({
      code: 'RECORD_INVALID',
      message: expect.stringContaining('block 7'),
    });
  });
});

it('native transfers are taken from logs or from traces of a block, never from both', async () => {
  const native = log([TRANSFER, topic(ANN), topic(BOB)], `0x${word(5)}`, { address: SYSTEM });
  const burnt = log([`0x${word(9)}`, topic(ANN)], `0x${word(5)}`, { address: SYSTEM });
  const later = trace([], {}, { blockNumber: FIRST + 1 });
  const rows = await getTransfers({ logs: [[native, burnt], []], traces: [[trace([], {})], [later]] });
  expect(rows.map((row) => `${row.block_number} ${toShort(row)}`)).toEqual([
    `7 native log ${ANN} ${BOB} 5`,
    `8 native trace ${ANN} ${BOB} 5`,
  ]);
  expect(rows[0]?.token_address).toBeNull();
});

it('rows are in the order of transactions, with withdrawals at the end of their block', async () => {
  const of = (at: number): Json => ({
    transactionIndex: `0x${at}`,
    transactionHash: `0x${`${at}`.repeat(64)}`,
  });
  const parties = [TRANSFER, topic(ANN), topic(BOB)];
  const withdrawals = [{ index: '0x9', validatorIndex: '0x1', address: BOB, amount: '0x2' }];
  const rows = await getTransfers({
    logs: [[log(parties, `0x${word(1)}`, of(1)), log(parties, `0x${word(2)}`, of(2))], []],
    traces: [[trace([], {}, { transactionPosition: 1 }), trace([], {}, { transactionPosition: 3 })], []],
    blocks: [
      { number: '0x7', timestamp: '0x64', withdrawals, transactions: [] },
      { number: '0x8', timestamp: '0x65', transactions: [] },
    ],
  });
  expect(rows.map((row) => [row.transaction_index, row.source, row.value_text])).toEqual([
    [1, 'trace', '5'],
    [1, 'log', '1'],
    [2, 'log', '2'],
    [3, 'trace', '5'],
    [null, 'withdrawal', '2000000000'],
  ]);
  expect(rows.at(-1)).toMatchObject({
    from_address: null,
    withdrawal_index: 9n,
    block_timestamp: 100,
    chain_id: 1,
  });
});

/** Values by standard, counted without the code that is tested: over the answers of the node, call by call. */
function countAlone({ block, receipts, traces }: Json): Record<string, bigint[]> {
  const sums: Record<string, bigint[]> = {};
  const add = (name: string, value: bigint): void => {
    const [count = 0n, sum = 0n] = sums[name] ?? [];
    sums[name] = [count + 1n, sum + value];
  };
  for (const { topics, data } of (receipts as Json[]).flatMap(({ logs }) => logs as Json[])) {
    const places = topics.slice(topics[0] === TRANSFER ? 1 : 2, topics[0] === TRANSFER ? 3 : 4) as string[];
    if (places.length < 2 || places.some((each) => BigInt(each) >> 160n !== 0n)) continue;
    const form = `${topics[0]} ${topics.length} ${(data.length - 2) / 64}`;
    if (form === `${TRANSFER} 3 1`) add('erc20', BigInt(data));
    if (form === `${TRANSFER} 4 0`) add('erc721', 1n);
    if (form === `${SINGLE} 4 2`) add('erc1155', BigInt(`0x${data.slice(66)}`));
  }
  const all = (traces ?? []) as Json[];
  const isUndone = ({ transactionPosition, traceAddress }: Json): boolean =>
    all.some(
      (other) =>
        other.error != null &&
        other.transactionPosition === transactionPosition &&
        (other.traceAddress as number[]).every((at, n) => traceAddress[n] === at),
    );
  for (const each of all) {
    const { type, action, result } = each;
    const isMove = (type === 'call' && action.callType === 'call') || type === 'create' || type === 'suicide';
    const from = action.from ?? action.address;
    const to = action.to ?? action.refundAddress ?? result?.address;
    const value = BigInt(action.value ?? action.balance);
    if (isMove && value > 0n && from !== to && !isUndone(each)) add('native', value);
  }
  for (const { amount } of (block.withdrawals ?? []) as Json[]) add('native', BigInt(amount) * 10n ** 9n);
  return sums;
}

describe.each(ALL)('transfers of $title', (source) => {
  const text = (kind: Kind, value: unknown): unknown =>
    JSON.parse(canonicalRecord(kind, value, { header: 'trust' }));

  it.each([
    ['row', 3],
    ['forks', 20],
  ] as const)(
    '%s: as many of each standard, and as much, as another count finds',
    { timeout: 60_000 },
    async (name, count) => {
      let found = 0;
      const lines: Json[] = source.blocks(name).filter(({ receipts }) => receipts !== undefined);
      for (const line of lines.slice(0, count)) {
        const chain = {
          logs: [
            text(
              'logs',
              line.receipts.flatMap(({ logs }: Json) => logs),
            ),
          ],
          ...(line.traces === undefined ? {} : { traces: [text('traces', line.traces)] }),
          blocks: [text('blocks', line.block)],
        };
        const rows = await getTransfers(chain);
        expect(await getTransfers(chain, withTransferParts)).toEqual(rows);
        const sums: Record<string, bigint[]> = {};
        for (const { standard, value_text, batch_index } of rows) {
          // The other count leaves batches out.
          if (batch_index !== null) continue;
          const [count = 0n, sum = 0n] = sums[standard as string] ?? [];
          sums[standard as string] = [count + 1n, sum + BigInt(value_text as string)];
        }
        expect(sums).toEqual(countAlone(line));
        found += rows.length;
      }
      expect(found).toBeGreaterThan(500);
    },
  );
});
