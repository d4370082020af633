import { randomBytes } from 'node:crypto';
import { deflateRawSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRangeCheck } from './check-range.js';
import { deflatePiece } from './deflate/deflate-piece.js';
import { type Fragment, toFragment } from './layout/fragment.js';
import { spliceMember } from './splice-member.js';

const invalid = expect.objectContaining({ code: 'BUNDLE_INVALID' });
const fragments: Fragment[] = [];
for (const [index, length] of [5, 40, 300, 4_000].entries()) {
  const text = Buffer.from(`"${randomBytes(length).toString('hex')}"`);
  fragments.push(toFragment({ firstBlock: index, lastBlock: index }, await deflatePiece(text)));
}
const bodies = fragments.map(({ body }) => body);
const file = Buffer.concat(spliceMember(fragments, bodies).chunks);

/** Checks a range of these bytes, pushed in pieces of this size. */
async function check(
  bytes: Buffer,
  range: { start: number; end: number },
  { piece = 1_000, maxExtraBytes = 10_000, bodies = new Map<number, number>() } = {},
): Promise<{ start: number; end: number }> {
  const checking = createRangeCheck(fragments, range, { maxExtraBytes, bodies });
  const read = bytes.subarray(checking.read.start, checking.read.end + 1);
  for (let at = 0; at < read.length; at += piece) await checking.push(read.subarray(at, at + piece));
  checking.finish();
  return checking.read;
}

const ranges = fc
  .tuple(fc.nat(file.length - 1), fc.nat(file.length - 1))
  .map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }));

it('takes any range of a whole bundle, in pieces of any size, and reads no more than the touched fragments', async () => {
  await fc.assert(
    fc.asyncProperty(ranges, fc.integer({ min: 1, max: 5_000 }), async (range, piece) => {
      const read = await check(file, range, { piece });
      expect(read.start).toBeLessThanOrEqual(range.start);
      expect(read.end).toBeGreaterThanOrEqual(range.end);
    }),
    { numRuns: 100 },
  );
  const first = 16;
  expect(await check(file, { start: first + 1, end: first + 1 })).toEqual({
    start: first,
    end: first + (fragments[0]?.byteLength as number) - 1,
  });
  expect(await check(file, { start: 3, end: 7 })).toEqual({ start: 3, end: 7 });
});

it('finds every changed byte of the range that changes the text', async () => {
  const text = gunzipSync(file);
  const sameText = (bytes: Buffer): boolean => {
    try {
      return gunzipSync(bytes).equals(text);
    } catch {
      return false;
    }
  };
  // Every bit of the head and the small fragments, with all their separators; one of each byte of the large one.
  const small = 400;
  for (let bit = 0; bit < file.length * 8; bit += bit < small * 8 ? 1 : 9) {
    const position = bit >> 3;
    const changed = Buffer.from(file);
    changed[position] = (changed[position] as number) ^ (1 << (bit % 8));
    const wrong = await check(changed, { start: position, end: position }).then(
      () => false,
      () => true,
    );
    if (!wrong) expect(sameText(changed), `bit ${bit}`).toBe(true);
  }
});

it('refuses a body that ends the stream, one that is longer, and a bundle that ends or goes on', async () => {
  const [, second] = fragments as [Fragment, Fragment];
  const start = 16 + (fragments[0]?.byteLength as number) + 6;
  const put = (body: Buffer): Buffer => {
    const changed = Buffer.from(file);
    body.copy(changed, start, 0, second.byteLength);
    return changed;
  };
  const range = { start, end: start };
  // A final block, a stream of zeros that inflates to much more, and no stream at all.
  const final = deflateRawSync(Buffer.from('"x"'));
  const bomb = deflateRawSync(Buffer.alloc(60_000));
  for (const body of [final, bomb, Buffer.alloc(second.byteLength, 0xff)]) {
    await expect(check(put(body), range)).rejects.toThrow(invalid);
  }
  await expect(check(file.subarray(0, start + 9), range)).rejects.toThrow(invalid);
  const checking = createRangeCheck(fragments, range, { maxExtraBytes: 10_000, bodies: new Map() });
  await expect(checking.push(file.subarray(checking.read.start))).rejects.toThrow(invalid);
  const beyond = { start: 0, end: file.length };
  expect(() => createRangeCheck(fragments, beyond, { maxExtraBytes: 0, bodies: new Map() })).toThrow(invalid);
});

it('only counts the part of a fragment of which too much lies outside of the range', async () => {
  const start = file.length - 14 - (fragments[3]?.byteLength as number);
  const range = { start: start + 10, end: start + 19 };
  const changed = Buffer.from(file);
  changed.fill(0, range.start, range.end + 1);
  await expect(check(changed, range)).rejects.toThrow(invalid);
  expect(await check(changed, range, { maxExtraBytes: 100 })).toEqual(range);
  await expect(check(changed.subarray(0, range.end), range, { maxExtraBytes: 100 })).rejects.toThrow(invalid);
});

it('finds every changed byte in a body that was right before, without inflating it again', async () => {
  const bodies = new Map<number, number>();
  const whole = { start: 0, end: file.length - 1 };
  await check(file, whole, { bodies });
  expect([...bodies.keys()]).toEqual([0, 1, 2, 3]);
  await check(file, whole, { bodies, piece: 77 });
  for (let position = 0; position < file.length; position++) {
    const changed = Buffer.from(file);
    changed[position] = (changed[position] as number) ^ (1 << (position % 8));
    const range = { start: position, end: position };
    await expect(check(changed, range, { bodies }), `byte ${position}`).rejects.toThrow(invalid);
  }
});
