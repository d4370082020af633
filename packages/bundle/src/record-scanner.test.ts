import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRecordScanner } from './record-scanner.js';

const invalid = expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID'));

/** Strings that are hard on a scanner: quotes, runs of backslashes, brackets, and longer than it walks by bytes. */
const nasty = fc
  .array(
    fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ' ', 'a', 'é', '\n', '0123456789abcdef'.repeat(5)),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.join(''));
const value = fc.oneof(fc.jsonValue(), nasty, fc.array(nasty), fc.dictionary(nasty, nasty));

/** The elements of a text that is whole. */
function splitArray(text: Buffer): Buffer[] {
  const scanner = createRecordScanner({ form: 'array' });
  const records = scanner.push(text);
  scanner.finish();
  return records;
}

describe('a record scanner', () => {
  it('gives the text of each element, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const texts = values.map((item) => JSON.stringify(item));
        expect(splitArray(Buffer.from(`[${texts.join(',')}]`)).map(String)).toEqual(texts);
      }),
    );
  });

  it('takes an array with space in it', () => {
    fc.assert(
      fc.property(fc.array(value), fc.constantFrom(1, 4, '\t'), (values, indent) => {
        const records = splitArray(Buffer.from(` \n${JSON.stringify(values, null, indent)}\n`));
        expect(records.map((record) => JSON.parse(record.toString()))).toEqual(
          JSON.parse(JSON.stringify(values)),
        );
      }),
    );
  });

  it('finds the same elements wherever the text is cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(value), fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), (values, cuts) => {
        const text = Buffer.from(JSON.stringify(values));
        const scanner = createRecordScanner({ form: 'array' });
        const records: Buffer[] = [];
        let from = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), text.length]) {
          const to = Math.max(from, Math.min(cut, text.length));
          records.push(...scanner.push(text.subarray(from, to)));
          from = to;
        }
        records.push(...scanner.finish());
        expect(records.map(String)).toEqual(values.map((item) => JSON.stringify(item)));
      }),
    );
  });

  it('finds them also when every byte comes alone', () => {
    const values = ['\\"', `${'\\'.repeat(130)}"`, { '"]': ['\\\\', 'x'.repeat(200)] }, []];
    const scanner = createRecordScanner({ form: 'array' });
    const records = [...Buffer.from(JSON.stringify(values))].flatMap((byte) =>
      scanner.push(Buffer.from([byte])),
    );
    scanner.finish();
    expect(records.map((record) => JSON.parse(record.toString()))).toEqual(values);
  });

  it.each([
    '',
    ' ',
    '{}',
    '"a"',
    '[',
    '[1',
    '["a]',
    '[1,]',
    '[,]',
    '[,1]',
    '[1]]',
    '[1],',
    '[1}',
    '[1] 2',
    '[{]',
  ])('refuses %j', (text) => {
    expect(() => splitArray(Buffer.from(text))).toThrow(invalid);
  });

  it('refuses a record that grows beyond the limit while it arrives in pieces', () => {
    const scanner = createRecordScanner({ form: 'array', maxRecordBytes: 1_000 });
    scanner.push(Buffer.from(`["${'a'.repeat(900)}`));
    expect(() => scanner.push(Buffer.from('a'.repeat(200)))).toThrow(invalid);
  });
});
