import { constants, crc32, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { toFragment } from '../layout/fragment.js';
import { readRecord } from '../read-fragments.js';
import { createPieceWriter, deflatePiece, joinPieces } from './deflate-piece.js';

describe('deflatePiece', () => {
  it('ends every text in a sync flush, keeps its length and CRC, and gives it back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 20_000 }),
        fc.integer({ min: 1, max: 9 }),
        async (bytes, level) => {
          const raw = Buffer.from(bytes);
          const piece = await deflatePiece(raw, level);
          expect(piece.body.subarray(-4).toString('hex')).toBe('0000ffff');
          expect(piece.rawLength).toBe(raw.length);
          expect(piece.crc32).toBe(crc32(raw));
          const back = inflateRawSync(piece.body, { finishFlush: 2 });
          expect(back.equals(raw)).toBe(true);
        },
      ),
    );
  });

  it('contains no final block: a text of any compressibility can go on behind it', async () => {
    const end = Buffer.from([0x03, 0x00]);
    for (const raw of [
      Buffer.alloc(0),
      Buffer.from('a'),
      Buffer.alloc(5_000_000, 'ab'),
      Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i * 7919) >>> 5)),
    ]) {
      const { body } = await deflatePiece(raw);
      expect(() => inflateRawSync(body)).toThrow(/unexpected end/);
      expect(inflateRawSync(Buffer.concat([body, body, end])).equals(Buffer.concat([raw, raw]))).toBe(true);
    }
  });

  it('gives the same bytes whether or not the work went to the pool', async () => {
    const raw = Buffer.from('{"number":"0x1"},'.repeat(2_000));
    const both = await Promise.all([deflatePiece(raw), deflatePiece(Buffer.from(raw))]);
    expect(both[0]?.body.equals(both[1]?.body as Buffer)).toBe(true);
  });
});

describe('joinPieces', () => {
  it('makes a blocks fragment of head, transactions and tail that reads as the whole record', async () => {
    const parts = ['{"number":"0x7","transactions":', '[{"hash":"0x01"},{"hash":"0x02"}]', ',"uncles":[]}'];
    const joined = joinPieces(await Promise.all(parts.map((part) => deflatePiece(Buffer.from(part)))));
    const fragment = toFragment({ firstBlock: 7, lastBlock: 7 }, joined);
    const record = await readRecord({ fragment, body: fragment.body, block: 7 });
    expect(record.toString()).toBe(parts.join(''));
  });

  it('gives length and CRC of the texts in a row, however they are bracketed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 6 }), async (texts) => {
        const pieces = await Promise.all(texts.map((text) => deflatePiece(Buffer.from(text))));
        const whole = await deflatePiece(Buffer.concat(texts));
        const joined = joinPieces(pieces);
        const nested = joinPieces([joinPieces(pieces.slice(0, 2)), joinPieces(pieces.slice(2))]);
        expect({ rawLength: joined.rawLength, crc32: joined.crc32 }).toEqual({
          rawLength: whole.rawLength,
          crc32: whole.crc32,
        });
        expect(nested).toEqual(joined);
      }),
    );
  });
});

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
