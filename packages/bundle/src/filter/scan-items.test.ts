import { canonicalRecord, type Kind } from '@packhouse/chain';
import { DIGEST_BYTES } from '@packhouse/kernels';
import { ALL, type Recorded } from '@packhouse/recordings';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createItemCollector } from './filter-items.js';
import { toDigests } from './item-set.js';
import { scanItems } from './scan-items.js';

const SCANNED = ['logs', 'transactions', 'traces'] as const;

/** Digests in hex, sorted. */
function sorted(digests: Uint8Array | null): string[] | null {
  if (digests === null) return null;
  const hex = Buffer.from(digests).toString('hex');
  return (hex.match(new RegExp(`.{${2 * DIGEST_BYTES}}`, 'g')) ?? []).sort();
}

const scan = (kind: Kind, text: string) => sorted(scanItems(kind, Buffer.from(text, 'latin1')));

async function parsed(kind: Kind, elements: readonly unknown[]) {
  const collector = await createItemCollector(kind);
  for (const element of elements) collector.add(element);
  return sorted(toDigests(collector.items()));
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** Compares in every block; returns the number of elements. */
async function compare(kind: (typeof SCANNED)[number], blocks: readonly Recorded[]): Promise<number> {
  let compared = 0;
  for (const { block, receipts = [], traces = [] } of blocks) {
    const logs = receipts.flatMap((receipt) => receipt.logs);
    const elements: readonly unknown[] = { logs, traces, transactions: block.transactions }[kind];
    if (typeof elements[0] === 'string') continue;
    expect(scan(kind, canonicalRecord(kind, elements))).toEqual(await parsed(kind, elements));
    compared += elements.length;
  }
  return compared;
}

describe.each(ALL)('in $title', (source) => {
  it.each(SCANNED)('finds of %s what parsing finds', async (kind) => {
    for (const name of ['row', 'forks', 'optimism'] as const) {
      const compared = await compare(kind, source.blocks(name));
      if (name !== 'optimism') expect(compared).toBeGreaterThan(100);
    }
  });
});

const hex = (digits: number, values: number) =>
  fc.nat(values).map((value) => `0x${(value * 0x9e3779b1).toString(16).padStart(digits, 'c0ffee')}`);
const account = hex(40, 30);
const noise = fc.constantFrom(
  '0x',
  'a\n"b',
  '"from":',
  '{"to":"0x"}',
  '\\',
  '}',
  'address":',
  '"address":null',
);
const log = fc.record({
  logIndex: fc.constant('0x0'),
  address: account,
  data: fc.nat(90).map((bytes) => `0x${'0f'.repeat(bytes)}`),
  topics: fc.array(hex(64, 30), { maxLength: 4 }),
});
const transaction = fc.record(
  {
    from: account,
    input: fc.nat(40).map((bytes) => `0x${'0f'.repeat(bytes)}`),
    nonce: fc.oneof(fc.nat(300).map(BigInt), fc.bigInt(0n, 2n ** 64n - 1n)).map((n) => `0x${n.toString(16)}`),
    to: fc.option(account),
    type: fc.constantFrom('0x0', '0x2', '0x4', '0x7e', '0x7f'),
    accessList: fc.array(fc.record({ address: account, storageKeys: fc.array(hex(64, 3)) }), {
      maxLength: 2,
    }),
    authorizationList: fc.array(fc.record({ nonce: fc.constant('0x5'), to: account }), { maxLength: 2 }),
  },
  { requiredKeys: ['from', 'nonce'] },
);
const trace = fc.record({
  action: fc.oneof(
    fc.record({ from: account, to: account, input: fc.constant('0x') }),
    fc.record({ from: account, init: fc.constant('0x') }),
    fc.record({ address: account, refundAddress: account }),
    fc.record({ author: account, value: fc.constant('0x1') }),
  ),
  result: fc.option(fc.record({ address: account, code: noise })),
  error: noise,
});

describe('in any records', () => {
  it.each<[Kind, fc.Arbitrary<object>]>([
    ['logs', log],
    ['transactions', transaction],
    ['traces', trace],
  ])('finds of %s what parsing finds', async (kind, element) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(element, { maxLength: 8 })), async (records) => {
        const text = records.map((record) => JSON.stringify(record)).join();
        expect(scan(kind, text)).toEqual(await parsed(kind, records.flat()));
      }),
    );
  });

  it('finds very many, and in a short text after a long one only its own', async () => {
    const logs = Array.from({ length: 15_000 }, (_, n) => ({
      address: `0x${'ab'.repeat(20)}`,
      topics: [`0x${(n * 0x9e3779b1).toString(16).padStart(64, '0')}`],
    }));
    expect(scan('logs', JSON.stringify(logs))).toEqual(await parsed('logs', logs));
    expect(scan('logs', JSON.stringify(logs.slice(-1)))).toHaveLength(3);
    expect(scan('logs', '[]')).toEqual([]);
    expect(scan('logs', '')).toEqual([]);
  });
});

const one = `0x${'ab'.repeat(20)}`;
const topic = `0x${'cd'.repeat(32)}`;

it.each([
  ['logs', `{"address":"${one.toUpperCase()}","topics":[]}`],
  ['logs', `{"address":"${one}","topics":["${topic}","0x1"]}`],
  ['logs', `{"address":"${one}","topics":["${topic}"`],
  ['logs', `{"address":"${one}","topics":["${topic}",]}`],
  ['logs', `{"address":"${one}","topics":[${Array(5).fill(`"${topic}"`).join()}]}`],
  ['logs', `{"address": "${one}","topics":[]}`],
  ['logs', `{"topics":[],"address":"${one}"}`],
  ['logs', `{"address":"${one}"}`],
  ['logs', `{"address":"${one.slice(0, -1)}`],
  ['logs', `{"address":"${one}","extra":{"address":"${one}"},"topics":[]}`],
  ['traces', `{"action":{"from":"${one}","to":5}}`],
  ['traces', `{"action":{"from":"${one.slice(0, -1)}"}}`],
  ['traces', `{"action":{"from":"${one}0"}}`],
  ['traces', `{"action":{"author":"${one.replace('b', 'g')}"}}`],
  ['transactions', '{}'],
  ['transactions', `{"from":"${one}"}`],
  ['transactions', `{"from":"${one}","nonce":"0x01","to":null}`],
  ['transactions', `{"from":"${one}","nonce":"0x","to":null}`],
  ['transactions', `{"from":"${one}","nonce":"0x${'1'.repeat(17)}","to":null}`],
  ['transactions', `{"from":"${one}","nonce":"0xA","to":null}`],
  ['transactions', `{"from":"${one}","nonce":"0x1","to":5}`],
  ['transactions', `{"from":"${one}","nonce":"0x1","to":null,"other":"\\""}`],
  ['transactions', `{"from":"${one}","nonce":"0x1","to":null,"other":"}"}`],
  ['transactions', `{"from":"${one}","nonce":"0x1","to":null`],
  ['blocks', '[]'],
] as const)('declines %s that are not canonical: %s', (kind, text) => {
  expect(scan(kind, text)).toBe(null);
});

it('declines more items than it has room for', () => {
  const topics = Array.from({ length: 24_576 }, (_, n) => `"0x${n.toString(16).padStart(64, '0')}"`);
  const text = topics.map((each) => `{"address":"${one}","topics":[${each}]}`).join();
  expect(scan('logs', text)).toBe(null);
});

it('declines everything where Node has no WebAssembly', async () => {
  vi.stubGlobal('WebAssembly', undefined);
  vi.resetModules();
  const { scanItems: scanWithout } = await import('./scan-items.js');
  expect(scanWithout('logs', Buffer.from('[]'))).toBe(null);
});
