import { execFileSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGrouper, type Group } from './create-grouper.js';
import { deflatePiece } from './deflate/deflate-piece.js';
import { type Fragment, toFragment } from './layout/fragment.js';
import { memberFrame, memberSize } from './layout/member-frame.js';
import { readRecord } from './read-fragments.js';
import { memberOfRecord, openMember, sliceOfMember, spliceMember, splitSlice } from './splice-member.js';

const invalid = expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID'));

/** Fragments as ingestion makes them, with a limit small enough for random records to make several. */
async function getFragments(records: readonly string[], first: number, limit: number): Promise<Fragment[]> {
  const grouper = createGrouper(limit);
  const groups: Group[] = records.flatMap((record, i) => grouper.push(first + i, Buffer.byteLength(record)));
  const last = grouper.flush();
  if (last !== null) groups.push(last);
  return Promise.all(
    groups.map(async (group) => {
      const text = Buffer.from(
        records.slice(group.firstBlock - first, group.lastBlock - first + 1).join(','),
      );
      expect(text.length).toBe(group.rawLength);
      return toFragment(group, await deflatePiece(text));
    }),
  );
}

function spliced(fragments: readonly Fragment[]): Buffer {
  const member = spliceMember(
    fragments,
    fragments.map(({ body }) => body),
  );
  return Buffer.concat(member.chunks);
}

const records = fc.array(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  { minLength: 1, maxLength: 40 },
);
const first = fc.integer({ min: 0, max: 20_000_000 });

describe('a bundle', () => {
  it('gunzips to the array of its records', async () => {
    await fc.assert(
      fc.asyncProperty(records, first, fc.integer({ min: 1, max: 200 }), async (texts, start, limit) => {
        const fragments = await getFragments(texts, start, limit);
        const gz = spliced(fragments);
        expect(gunzipSync(gz).toString()).toBe(`[${texts.join(',')}]`);
        expect(gz.length).toBe(memberSize(fragments));
        const { bytes, places, rawLength } = openMember(fragments);
        for (const [at, place] of places.entries()) place.set(fragments[at]?.body as Buffer);
        expect(bytes.equals(gz)).toBe(true);
        expect(rawLength).toBe(gunzipSync(gz).length);
      }),
    );
  });

  it('can be cut into any run of its fragments, which is again a file, from one range of its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(records, first, fc.nat(), fc.nat(), async (texts, start, a, b) => {
        const fragments = await getFragments(texts, start, 30);
        const gz = spliced(fragments);
        const from = start + Math.min(a % texts.length, b % texts.length);
        const to = start + Math.max(a % texts.length, b % texts.length);

        const slice = sliceOfMember(fragments, from, to);
        const bytes = gz.subarray(slice.range.start, slice.range.end + 1);
        const run = fragments.filter(({ firstBlock, lastBlock }) => lastBlock >= from && firstBlock <= to);
        expect(slice.fragments).toEqual(run);
        const bodies = splitSlice(slice.fragments, bytes);
        expect(bodies).toEqual(run.map(({ body }) => body));

        const held = texts.slice(
          (run[0]?.firstBlock as number) - start,
          (run.at(-1)?.lastBlock as number) - start + 1,
        );
        const again = Buffer.concat(spliceMember(slice.fragments, bodies).chunks);
        expect(gunzipSync(again).toString()).toBe(`[${held.join(',')}]`);
        const { head, tail, byteLength } = memberFrame(slice.fragments);
        expect(Buffer.concat([head, bytes, tail]).equals(again)).toBe(true);
        expect(byteLength).toBe(again.length);
      }),
    );
  });

  it('gives each record alone through its fragment, and a file of that record', async () => {
    const texts = Array.from({ length: 20 }, (_, i) =>
      JSON.stringify({ number: i, text: '\\"],'.repeat(i) }),
    );
    const fragments = await getFragments(texts, 100, 150);
    expect(fragments.length).toBeGreaterThan(3);
    for (const [i, text] of texts.entries()) {
      const fragment = fragments.find((f) => f.firstBlock <= 100 + i && f.lastBlock >= 100 + i) as Fragment;
      const record = await readRecord({ fragment, body: fragment.body, block: 100 + i });
      expect(record.toString()).toBe(text);
      const member = await memberOfRecord(record);
      expect(gunzipSync(Buffer.concat(member.chunks)).toString()).toBe(`[${text}]`);
      expect(member.chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(member.byteLength);
    }
  });

  it('has a head that depends on nothing: deflate, no flags, mtime 0, OS 255', async () => {
    const [fragment] = await getFragments(['{}'], 0, 1);
    expect(
      spliced([fragment as Fragment])
        .subarray(0, 10)
        .toString('hex'),
    ).toBe('1f8b08000000000000ff');
  });

  it('states the length of its text modulo 2^32', () => {
    const fragment = { firstBlock: 0, lastBlock: 0, byteLength: 5, rawLength: 2 ** 33 + 5, crc32: 0 };
    const { tail, rawLength } = memberFrame([fragment]);
    expect(rawLength).toBe(2 ** 33 + 7);
    expect(tail.readUInt32LE(tail.length - 4)).toBe(7);
  });

  it('is not made of fragments with a gap, of missing bodies or of bodies of another length', async () => {
    const [a, b, c] = (await getFragments(['1', '2', '3'], 0, 1)) as [Fragment, Fragment, Fragment];
    expect(() => spliceMember([a, c], [a.body, c.body])).toThrow(invalid);
    expect(() => spliceMember([b, a], [b.body, a.body])).toThrow(invalid);
    expect(() => spliceMember([a, b], [a.body])).toThrow(invalid);
    expect(() => spliceMember([a], [a.body.subarray(1)])).toThrow(invalid);
    expect(() => spliceMember([], [])).toThrow(invalid);
  });

  it('does not give what it does not hold, nor bytes that are not its own', async () => {
    const fragments = await getFragments(['1', '2', '3'], 10, 1);
    const gz = spliced(fragments);
    const outside = expect.toSatisfy((error) => isPackhouseError(error, 'RANGE_INVALID'));
    expect(() => sliceOfMember(fragments, 9, 11)).toThrow(outside);
    expect(() => sliceOfMember(fragments, 11, 13)).toThrow(outside);
    expect(() => sliceOfMember(fragments, 12, 11)).toThrow(outside);
    expect(() => sliceOfMember(fragments, Number.NaN, 11)).toThrow(outside);
    const { range, fragments: run } = sliceOfMember(fragments, 10, 12);
    expect(() => splitSlice(run, gz.subarray(range.start, range.end))).toThrow(invalid);
    expect(() => splitSlice(run, gz.subarray(range.start, range.end + 2))).toThrow(invalid);
    expect(() => splitSlice(run, gz.subarray(range.start + 1, range.end + 2))).toThrow(invalid);
  });
});

const TOOLS: [name: string, command: string, args: string[], decodes: boolean, need: string][] = [
  ['gzip -t', 'gzip', ['-t'], false, 'gzip'],
  ['gzip -dc', 'gzip', ['-dc'], true, 'gzip'],
  ['zcat', 'zcat', [], true, 'gzip'],
  [
    "Python's gzip",
    'python3',
    ['-c', 'import gzip,sys;sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))'],
    true,
    'python3',
  ],
];

function installed(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a bundle for other programs', () => {
  for (const [name, command, args, decodes, need] of TOOLS) {
    it.skipIf(!installed(command))(`is accepted by ${name} (needs ${need})`, async () => {
      const texts = Array.from({ length: 500 }, (_, i) =>
        JSON.stringify({ number: i, data: `0x${'ab'.repeat(i)}` }),
      );
      const gz = spliced(await getFragments(texts, 0, 20_000));
      const read = (input: Buffer): Buffer =>
        execFileSync(command, args, { input, maxBuffer: 2 ** 24, stdio: ['pipe', 'pipe', 'pipe'] });
      const out = read(gz);
      if (decodes) expect(out.toString()).toBe(`[${texts.join(',')}]`);
      expect(() => read(gz.subarray(0, -5))).toThrow();
    });
  }
});
