import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSplitter } from './split.js';

class Refused extends Error {}
const open = (maxElementBytes?: number) =>
  createSplitter<Buffer>({
    form: 'array',
    join: (parts) => Buffer.concat(parts),
    refuse: (message) => new Refused(message),
    maxElementBytes,
  });

/** Strings that are hard on a splitter: quotes, runs of backslashes, brackets. */
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
  const splitter = open();
  const records = splitter.push(text);
  splitter.finish();
  return records;
}

describe('a splitter', () => {
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
        const splitter = open();
        const records: Buffer[] = [];
        let from = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), text.length]) {
          const to = Math.max(from, Math.min(cut, text.length));
          records.push(...splitter.push(text.subarray(from, to)));
          from = to;
        }
        records.push(...splitter.finish());
        expect(records.map(String)).toEqual(values.map((item) => JSON.stringify(item)));
      }),
    );
  });

  it('finds them also when every byte comes alone, between pieces of nothing', () => {
    const values = ['\\"', `${'\\'.repeat(130)}"`, { '"]': ['\\\\', 'x'.repeat(200)] }, []];
    const splitter = open();
    const records = [...Buffer.from(JSON.stringify(values))].flatMap((byte) => [
      ...splitter.push(Buffer.from([byte])),
      ...splitter.push(Buffer.alloc(0)),
    ]);
    splitter.finish();
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
    expect(() => splitArray(Buffer.from(text))).toThrow(Refused);
  });

  it('refuses a record that grows beyond the limit while it arrives in pieces', () => {
    const splitter = open(1_000);
    splitter.push(Buffer.from(`["${'a'.repeat(900)}`));
    expect(() => splitter.push(Buffer.from('a'.repeat(200)))).toThrow(Refused);
  });

  it('takes the text of a fragment, which has no brackets', () => {
    const splitter = createSplitter<Buffer>({
      form: 'elements',
      join: (parts) => Buffer.concat(parts),
      refuse: (message) => new Refused(message),
    });
    const elements = ['{"a":"],"}, [1', ',2] ,3'].flatMap((text) => splitter.push(Buffer.from(text)));
    expect([...elements, ...splitter.finish()].map(String)).toEqual(['{"a":"],"}', '[1,2]', '3']);
    expect(() => splitter.push(Buffer.from(']'))).toThrow(Refused);
  });
});
