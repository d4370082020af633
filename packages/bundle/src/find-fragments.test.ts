import { describe, expect, it } from 'vitest';
import { deflatePiece, joinPieces } from './deflate/deflate-piece.js';
import { findFragments } from './find-fragments.js';
import { type Fragment, toFragment } from './layout/fragment.js';
import { logKey, parseLogKey } from './layout/object-key.js';
import { spliceMember } from './splice-member.js';

/** Fragments of so many blocks each, from block 7 on. */
async function makeFragments(counts: readonly number[]): Promise<Fragment[]> {
  let firstBlock = 7;
  const fragments: Fragment[] = [];
  for (const count of counts) {
    const records = Array.from(
      { length: count },
      (_, at) => `[{"n":${firstBlock + at},"x":"${'ab,'.repeat(at * 40)}"},[],2]`,
    );
    const piece = await deflatePiece(Buffer.from(records.join(',')));
    fragments.push(toFragment({ firstBlock, lastBlock: firstBlock + count - 1 }, piece));
    firstBlock += count;
  }
  return fragments;
}

const toFile = (fragments: readonly Fragment[]): Buffer =>
  Buffer.concat(
    spliceMember(
      fragments,
      fragments.map(({ body }) => body),
    ).chunks,
  );
const toRange = (fragments: readonly Fragment[]) => ({
  firstBlock: 7,
  lastBlock: (fragments.at(-1) as Fragment).lastBlock,
});
const toTable = (fragments: readonly Fragment[]) => fragments.map(({ body: _, items: __, ...info }) => info);

describe('the fragment table of a bundle', () => {
  it.each([[[1]], [[1, 1, 1]], [[30]], [[4, 1, 25, 2, 9]]])(
    'of %j blocks is found in its bytes',
    async (counts) => {
      const fragments = await makeFragments(counts);
      expect(await findFragments(toFile(fragments), toRange(fragments))).toEqual(toTable(fragments));
    },
  );

  it('is found for one block whose record was deflated in pieces', async () => {
    const pieces = await Promise.all(
      ['[1,', '"a"', ',', ',2]'].map((text) => deflatePiece(Buffer.from(text))),
    );
    const fragments = [toFragment({ firstBlock: 7, lastBlock: 7 }, joinPieces(pieces))];
    expect(await findFragments(toFile(fragments), toRange(fragments))).toEqual(toTable(fragments));
  });

  it('is none if blocks or bytes are others', async () => {
    const fragments = await makeFragments([4, 4]);
    const file = toFile(fragments);
    const refused = expect.objectContaining({ code: 'BUNDLE_INVALID' });
    for (const lastBlock of [13, 15]) {
      await expect(findFragments(file, { firstBlock: 7, lastBlock })).rejects.toEqual(refused);
    }
    for (const cut of [file.subarray(0, -3), file.subarray(1), Buffer.concat([file, file])]) {
      await expect(findFragments(cut, toRange(fragments))).rejects.toEqual(refused);
    }
  });
});

it('the key of a part of the log is read back, and no other key is one', () => {
  const name = {
    network: 'main',
    kind: 'logs',
    first: 12,
    last: 13,
    before: 'a'.repeat(64),
    hash: 'b'.repeat(64),
  } as const;
  const key = 'main/manifest/logs/0000000012-0000000013-aaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb.jsonl';
  expect(logKey(name)).toBe(key);
  expect(parseLogKey(key)).toEqual({ ...name, before: 'a'.repeat(16), hash: 'b'.repeat(16) });
  for (const other of [`x/${key}`, key.replace('logs', 'uncles'), 'main/logs/1-2.json.gz', `${key}x`]) {
    expect(parseLogKey(other)).toBeNull();
  }
});
