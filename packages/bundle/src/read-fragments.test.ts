import { deflateRawSync } from 'node:zlib';
import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflatePiece } from './deflate/deflate-piece.js';
import { type Fragment, toFragment } from './layout/fragment.js';
import { readFragments } from './read-fragments.js';
import { spliceMember } from './splice-member.js';

/** Fragments of two records each, from block 10 on. */
async function getFragments(records: readonly string[]): Promise<Fragment[]> {
  const fragments: Fragment[] = [];
  for (let at = 0; at < records.length; at += 2) {
    const two = records.slice(at, at + 2);
    const range = { firstBlock: 10 + at, lastBlock: 10 + at + two.length - 1 };
    fragments.push(toFragment(range, await deflatePiece(Buffer.from(two.join(',')))));
  }
  return fragments;
}

function toBytes(fragments: readonly Fragment[]): Buffer {
  return Buffer.concat(
    spliceMember(
      fragments,
      fragments.map(({ body }) => body),
    ).chunks,
  );
}

async function readAll(fragments: readonly Fragment[], bytes: Buffer): Promise<string[]> {
  const records: string[] = [];
  for await (const part of readFragments({ fragments, bytes })) {
    for (const record of part.records) records.push(record.toString());
  }
  return records;
}

/** The part that is not as it should be. */
async function wrongPart(fragments: readonly Fragment[], bytes: Buffer): Promise<unknown> {
  const error: unknown = await readAll(fragments, bytes).then(
    () => null,
    (cause: unknown) => cause,
  );
  expect(error).toSatisfy((cause) => isPackhouseError(cause, 'BUNDLE_INVALID'));
  return isPackhouseError(error) ? error.data.part : null;
}

const RECORDS = Array.from({ length: 7 }, (_, n) => JSON.stringify([{ n, text: 'ab"]c'.repeat(n * 30) }]));

describe('a bundle read fragment by fragment', () => {
  it('gives the records of every block, with the fragment that holds them', async () => {
    const fragments = await getFragments(RECORDS);
    expect(await readAll(fragments, toBytes(fragments))).toEqual(RECORDS);
  });

  it('notices any single byte that makes another text', async () => {
    const fragments = await getFragments(RECORDS);
    const bytes = toBytes(fragments);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (position, difference) => {
          const damaged = Buffer.from(bytes);
          damaged[position] = (damaged[position] as number) ^ difference;
          // Deflate knows several spellings of the same text, and a damaged one may be another of them.
          const outcome: unknown = await readAll(fragments, damaged).catch((cause: unknown) => cause);
          if (!isPackhouseError(outcome, 'BUNDLE_INVALID')) expect(outcome).toEqual(RECORDS);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('names the part that is cut off, too long, framed wrongly, damaged or short of records', async () => {
    const fragments = await getFragments(RECORDS);
    const bytes = toBytes(fragments);
    expect(await wrongPart(fragments, bytes.subarray(0, -1))).toBe('length');
    expect(await wrongPart(fragments, Buffer.concat([bytes, Buffer.from('garbage')]))).toBe('length');
    expect(await wrongPart(fragments.slice(1), bytes)).toBe('length');
    const header = Buffer.from(bytes);
    header[4] = 1;
    expect(await wrongPart(fragments, header)).toBe('frame');
    const trailer = Buffer.from(bytes);
    trailer[bytes.length - 8] = (trailer[bytes.length - 8] as number) ^ 1;
    expect(await wrongPart(fragments, trailer)).toBe('frame');
    const first = fragments[0] as Fragment;
    const crc = [{ ...first, crc32: first.crc32 ^ 1 }, ...fragments.slice(1)];
    expect(await wrongPart(crc, toBytes(crc))).toBe('fragment');
    const range = [{ ...first, lastBlock: 12 }];
    expect(await wrongPart(range, toBytes(range))).toBe('records');
  });

  it('refuses a fragment that ends the stream, though it inflates alone', async () => {
    const [first, second] = (await getFragments(RECORDS)) as [Fragment, Fragment];
    const body = deflateRawSync(Buffer.from(RECORDS.slice(0, 2).join(',')));
    const ending = { ...first, body, byteLength: body.length };
    expect(await wrongPart([ending, second], toBytes([ending, second]))).toBe('fragment');
  });
});
