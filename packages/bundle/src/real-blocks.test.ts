import { execFileSync } from 'node:child_process';
import { ALL, type Recorded } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { createGrouper } from './create-grouper.js';
import { deflatePiece, joinPieces } from './deflate/deflate-piece.js';
import { chooseCut } from './layout/choose-cut.js';
import { decodeFragmentTable, encodeFragmentTable, type Fragment, toFragment } from './layout/fragment.js';
import { readBundle } from './read-bundle.js';
import { readRecord } from './read-fragments.js';
import { sliceOfMember, spliceMember } from './splice-member.js';

const MAX_BYTES = 1_000_000;

/** Packs records as a pipeline does; returns the bundles with their tables. */
async function pack(
  first: number,
  records: readonly string[],
  maxBytes = MAX_BYTES,
): Promise<{ table: Buffer; gz: Buffer; start: number }[]> {
  const grouper = createGrouper();
  const groups = records.flatMap((record, i) => grouper.push(first + i, record.length));
  const open = grouper.flush();
  if (open !== null) groups.push(open);
  let rest: Fragment[] = [];
  for (const group of groups) {
    const text = records.slice(group.firstBlock - first, group.lastBlock - first + 1).join(',');
    rest.push(toFragment(group, await deflatePiece(Buffer.from(text, 'latin1'))));
  }
  const bundles: { table: Buffer; gz: Buffer; start: number }[] = [];
  while (rest.length > 0) {
    const run = rest.slice(0, chooseCut(rest, maxBytes, 10_000).count);
    rest = rest.slice(run.length);
    const { chunks } = spliceMember(
      run,
      run.map(({ body }) => body),
    );
    bundles.push({
      table: encodeFragmentTable(run),
      gz: Buffer.concat(chunks),
      start: run[0]?.firstBlock as number,
    });
  }
  return bundles;
}

describe.each(ALL)('$title', (source) => {
  it('of today make bundles of several fragments, each block readable alone', async () => {
    const blocks = source.blocks('row');
    const [{ number: first }] = blocks as [Recorded];
    const records = blocks.map(({ receipts }) => JSON.stringify(receipts));
    const bundles = await pack(first, records);
    const read = await Promise.all(bundles.map(async ({ gz }) => (await readBundle(gz)).records.map(String)));
    expect(read.flat()).toEqual(records);
    for (const { table, gz, start } of bundles) {
      expect(gz.length).toBeLessThanOrEqual(MAX_BYTES);
      execFileSync('gzip', ['-t'], { input: gz });
      for (const fragment of decodeFragmentTable(start, table)) {
        const { range } = sliceOfMember(
          decodeFragmentTable(start, table),
          fragment.firstBlock,
          fragment.firstBlock,
        );
        const body = gz.subarray(range.start, range.end + 1);
        const record = await readRecord({ fragment, body, block: fragment.firstBlock });
        expect(record.toString()).toBe(records[fragment.firstBlock - first]);
      }
    }
  });

  it('share their transactions: a blocks fragment is made of head, the transactions bytes and tail', async () => {
    const [{ block }] = source.blocks('row') as [Recorded];
    const { transactions, ...header } = block;
    const head = `${JSON.stringify(header).slice(0, -1)},"transactions":`;
    const middle = await deflatePiece(Buffer.from(JSON.stringify(transactions)));
    const piece = joinPieces([
      await deflatePiece(Buffer.from(head)),
      middle,
      await deflatePiece(Buffer.from('}')),
    ]);
    const { chunks } = spliceMember([toFragment({ firstBlock: 1, lastBlock: 1 }, piece)], [piece.body]);
    const [record] = (await readBundle(Buffer.concat(chunks))).records;
    expect(JSON.parse(String(record))).toEqual({ ...header, transactions });
  });

  it('of the first year share fragments, very many of them in a bundle', async () => {
    const blocks = source.blocks('early');
    const [{ number: first }] = blocks as [Recorded];
    const records = blocks.map(({ block }) => JSON.stringify(block));
    // Fewer blocks need smaller bundles to be more than one.
    const maxBytes = Math.min(MAX_BYTES, 125 * records.length);
    const bundles = await pack(first, records, maxBytes);
    expect(bundles.length).toBeGreaterThan(1);
    const read = await Promise.all(bundles.map(async ({ gz }) => (await readBundle(gz)).records.map(String)));
    expect(read.flat()).toEqual(records);
    expect(bundles[0]?.gz.length).toBeGreaterThan(0.9 * maxBytes);
    expect(bundles[0]?.table.length).toBeLessThan(1_000);
  });
});
