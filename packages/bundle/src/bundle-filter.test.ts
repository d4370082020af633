import { createHash } from 'node:crypto';
import { isPackhouseError } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { filterFits, filterOfBundle } from './bundle-filter.js';
import { deflatePiece } from './deflate/deflate-piece.js';
import { readFilter } from './filter/filter-file.js';
import { filterItem } from './filter/filter-items.js';
import { buildItemSet, distinctDigests, mayHold, toDigests } from './filter/item-set.js';
import { scanItems } from './filter/scan-items.js';
import { type Fragment, toFragment } from './layout/fragment.js';
import { MEMBER_HEAD_BYTES, SEPARATOR_BYTES } from './layout/member-frame.js';
import { readBundle } from './read-bundle.js';
import { spliceMember } from './splice-member.js';

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const topic = (n: number): string => `0x${n.toString(16).padStart(64, '7')}`;

/** A bundle with a fragment for each of these records from block 100 on. */
async function getBundle(kind: 'logs' | 'transactions' | 'traces', ...records: unknown[]) {
  const fragments: Fragment[] = [];
  for (const [n, record] of records.entries()) {
    const piece = await deflatePiece(Buffer.from(JSON.stringify(record)));
    fragments.push(toFragment({ firstBlock: 100 + n, lastBlock: 100 + n }, piece));
  }
  const { chunks } = spliceMember(
    fragments,
    fragments.map(({ body }) => body),
  );
  return { kind, fragments, bytes: Buffer.concat(chunks) };
}

/** Whether the bundle's filter, of one part, is exactly that of these items. */
async function expectItems(
  bundle: Awaited<ReturnType<typeof getBundle>>,
  items: Uint8Array[],
): Promise<void> {
  const { parts } = readFilter(await filterOfBundle(bundle), 100);
  expect(parts).toHaveLength(1);
  const { columns, ...rest } = buildItemSet([toDigests(items)]);
  expect(parts[0]?.items).toEqual({ ...rest, columns: Buffer.from(columns) });
}

describe('the filter of a bundle', () => {
  it('of logs holds addresses, topics, and addresses with first topics', async () => {
    const bundle = await getBundle(
      'logs',
      [
        { address: address(1), topics: [topic(1), topic(2)] },
        { address: address(2), topics: [] },
      ],
      [],
      [{ address: address(1), topics: [topic(3)] }],
    );
    await expectItems(bundle, [
      ...[1, 2].map((n) => filterItem(address(n))),
      ...[1, 2, 3].map((n) => filterItem(topic(n))),
      filterItem(address(1), topic(1)),
      filterItem(address(1), topic(3)),
    ]);
  });

  it('of transactions holds senders, receivers, and what a creation creates', async () => {
    // Known creations: by nonce 0 and 1 of one account (ethereum/wiki on CREATE), and CryptoKitties, by nonce 3515.
    const sender = '0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0';
    const bundle = await getBundle('transactions', [
      { from: address(1), to: address(2), type: '0x0', nonce: '0x1' },
      { from: sender, to: null, type: '0x2', nonce: '0x0' },
      { from: sender, to: null, type: '0x2', nonce: '0x1' },
      { from: address(3), to: null, type: '0x7e', nonce: '0x0' },
      { from: '0xba52c75764d6f594735dc735be7f1830cdf58ddf', to: null, type: '0x0', nonce: '0xdbb' },
    ]);
    await expectItems(bundle, [
      ...[1, 2, 3].map((n) => filterItem(address(n))),
      filterItem(sender),
      filterItem('0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d'),
      filterItem('0x343c43a37d37dff08ae8c4a11544c718abb4fcf8'),
      filterItem('0xba52c75764d6f594735dc735be7f1830cdf58ddf'),
      filterItem('0x06012c8cf97bead5deae237070f9587f8e7a266d'),
    ]);
  });

  it('of traces holds every address that takes part', async () => {
    const bundle = await getBundle('traces', [
      { action: { from: address(1), to: address(2) }, result: { gasUsed: '0x0', output: '0x' } },
      { action: { from: address(2) }, result: { address: address(3), code: '0x' } },
      { action: { from: address(4) }, error: 'out of gas' },
      { action: { address: address(5), refundAddress: address(6), balance: '0x0' }, result: null },
      { action: { author: address(7), value: '0x1' } },
    ]);
    await expectItems(
      bundle,
      [1, 2, 3, 4, 5, 6, 7].map((n) => filterItem(address(n))),
    );
  });

  it('is the same for a block that is too large to be parsed whole', async () => {
    const logs = Array.from({ length: 10_000 }, (_, n) => ({
      address: address(n % 7),
      topics: [topic(n % 50)],
      data: `0x${'00'.repeat(200)}`,
    }));
    const items = logs.flatMap(({ address: account, topics: [first] }) => [
      filterItem(account),
      filterItem(first as string),
      filterItem(account, first as string),
    ]);
    await expectItems(await getBundle('logs', logs), items);
  });

  it('fits its own bundle and none with other items', async () => {
    const one = await getBundle('logs', [{ address: address(1), topics: [topic(1)] }]);
    const other = await getBundle('logs', [{ address: address(9), topics: [topic(9)] }]);
    const filter = await filterOfBundle(one);
    expect(await filterFits(filter, one)).toBe(true);
    expect(await filterFits(filter, other)).toBe(false);
    expect(await filterFits(filter.subarray(1), one)).toBe(false);
    const item = toDigests([filterItem(address(1).toUpperCase().replace('X', 'x'))]);
    const [part] = readFilter(filter, 100).parts;
    expect(part && mayHold(part.items, distinctDigests([item]))).toBe(true);
  });

  it('is made of known items without a look at their fragments, and of those that are not known in them', async () => {
    const logs = [1, 2].map((n) => [{ address: address(n), topics: [topic(n)] }]);
    const bundle = await getBundle('logs', ...logs);
    const known = logs.map((record) =>
      Buffer.from(scanItems('logs', Buffer.from(JSON.stringify(record))) ?? ''),
    );
    const itemsOf = async (bytes: Buffer, items: (Buffer | null)[]) =>
      readFilter(await filterOfBundle({ ...bundle, bytes }, { items }), 100).parts.map((part) => part.items);
    const found = await itemsOf(bundle.bytes, []);
    const [first, second] = bundle.fragments as [Fragment, Fragment];
    const broken = Buffer.from(bundle.bytes);
    broken.fill(0xff, MEMBER_HEAD_BYTES, MEMBER_HEAD_BYTES + first.byteLength);
    const halfKnown = [known[0] as Buffer, null];
    expect(await itemsOf(broken, halfKnown)).toEqual(found);
    const at = MEMBER_HEAD_BYTES + first.byteLength + SEPARATOR_BYTES;
    broken.fill(0xff, at, at + second.byteLength);
    expect(await itemsOf(broken, known)).toEqual(found);
    await expect(filterOfBundle({ ...bundle, bytes: broken }, { items: halfKnown })).rejects.toThrow();
  });

  it('has parts of at least 16 KiB, which are read by themselves', async () => {
    const noise = (n: number): string =>
      createHash('shake256', { outputLength: 6_000 }).update(`${n}`).digest('hex');
    const records = Array.from({ length: 9 }, (_, n) => [
      { address: address(n % 5), topics: [topic(n)], data: `0x${noise(n)}` },
    ]);
    const bundle = await getBundle('logs', ...records);
    const { parts } = readFilter(await filterOfBundle(bundle), 100);
    expect(parts.map(({ firstBlock, lastBlock }) => [firstBlock, lastBlock])).toEqual([
      [100, 102],
      [103, 105],
      [106, 108],
    ]);
    for (const { start, sha256, items, ...part } of parts) {
      const body = bundle.bytes.subarray(start, start + part.byteLength);
      expect(createHash('sha256').update(body).digest()).toEqual(sha256);
      const own = records.slice(part.firstBlock - 100, part.lastBlock - 99);
      const alone = await readBundle(Buffer.concat(spliceMember([part], [body]).chunks));
      expect(JSON.parse(alone.text.toString())).toEqual(own);
      const has = records.map((_, n) => mayHold(items, distinctDigests([toDigests([filterItem(topic(n))])])));
      expect(has).toEqual(records.map((record) => own.includes(record)));
    }
    expect(await filterFits(await filterOfBundle(bundle), bundle)).toBe(true);
  });

  it('fits no bundle of the same items in other bytes', async () => {
    const logs = [{ address: address(1), topics: [] }];
    const [one, other] = [await getBundle('logs', logs, []), await getBundle('logs', logs, [], [])];
    expect(await filterFits(await filterOfBundle(one), other)).toBe(false);
    expect(await filterFits(await filterOfBundle(other), one)).toBe(false);
  });

  it('is refused for records that are no logs, and for bytes of another bundle', async () => {
    const refused = expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID'));
    for (const record of [[{ address: 'cfx:aa', topics: [] }], [{ address: address(1), topics: ['0x1'] }]]) {
      await expect(filterOfBundle(await getBundle('logs', record))).rejects.toEqual(refused);
    }
    for (const record of [[{ action: { from: 'x' } }], [{ action: { to: 5 } }]]) {
      await expect(filterOfBundle(await getBundle('traces', record))).rejects.toEqual(refused);
    }
    await expect(filterOfBundle(await getBundle('transactions', [{}]))).rejects.toEqual(refused);
    const bundle = await getBundle('logs', []);
    await expect(filterOfBundle({ ...bundle, bytes: bundle.bytes.subarray(1) })).rejects.toEqual(refused);
  });
});
