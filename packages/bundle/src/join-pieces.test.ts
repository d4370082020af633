import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflatePiece } from './deflate-piece.js';
import { fragmentOf } from './fragment-of.js';
import { joinPieces } from './join-pieces.js';
import { readRecord } from './read-record.js';

describe('joinPieces', () => {
  it('makes a blocks fragment of head, transactions and tail that reads as the whole record', async () => {
    const parts = ['{"number":"0x7","transactions":', '[{"hash":"0x01"},{"hash":"0x02"}]', ',"uncles":[]}'];
    const joined = joinPieces(await Promise.all(parts.map((part) => deflatePiece(Buffer.from(part)))));
    const fragment = fragmentOf({ start: 7, end: 7 }, joined);
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
