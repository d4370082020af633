import { crc32, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflatePiece } from './deflate-piece.js';

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
