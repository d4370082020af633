import { constants, crc32, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPieceWriter } from './piece-writer.js';

test('parts of any size come out as one piece that ends in a sync flush', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 200_000, size: 'max' }), { maxLength: 5 }),
      async (parts) => {
        const writer = createPieceWriter();
        const raw = Buffer.from(parts.join(''));
        for (const part of parts) await writer.write(Buffer.from(part));
        const piece = await writer.finish();
        expect(piece.rawLength).toBe(raw.length);
        expect(piece.crc32).toBe(crc32(raw));
        expect(inflateRawSync(piece.body, { finishFlush: constants.Z_SYNC_FLUSH }).equals(raw)).toBe(true);
        expect(piece.body.subarray(-4).toString('hex')).toBe('0000ffff');
      },
    ),
    { numRuns: 30 },
  );
});

test('a text far larger than what zlib buffers passes through', async () => {
  const writer = createPieceWriter();
  const part = Buffer.from('{"type":"call","gas":"0x5208"},'.repeat(20_000));
  for (let i = 0; i < 40; i++) await writer.write(part);
  const piece = await writer.finish();
  expect(piece.rawLength).toBe(part.length * 40);
  expect(piece.body.length).toBeLessThan(part.length);
});
