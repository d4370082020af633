import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createArrayValidator } from './validate-array.js';

/** What the validator says of a text that comes in pieces of `size` bytes; null: it is no JSON array. */
function scan(
  text: string,
  size: number,
  names: string[] = [],
): { facts: Readonly<Record<string, string | undefined>>[] } | null {
  const facts: Readonly<Record<string, string | undefined>>[] = [];
  const validator = createArrayValidator(names, (_, each) => facts.push(each) > 0);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    if (!validator.push(bytes.subarray(at, at + size))) return null;
  }
  if (!validator.finished()) return null;
  expect(validator.elements).toBe(facts.length);
  return { facts };
}

function isArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

const size = fc.integer({ min: 1, max: 40 });

it('takes every array that JSON.stringify writes, in whatever pieces it comes', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), size, fc.constantFrom(undefined, 1), (values, pieces, indent) => {
      expect(scan(JSON.stringify(values, null, indent), pieces)?.facts.length).toBe(values.length);
    }),
  );
});

it('agrees with JSON.parse about texts with any byte changed, left out or doubled', () => {
  const bytes = fc.constantFrom(...'[]{},:"\\0123456789+-.eEtrufalsn/bxX \n\t\u0001é');
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.nat(),
      bytes,
      fc.nat({ max: 2 }),
      size,
      (values, at, byte, cut, pieces) => {
        const text = JSON.stringify(values);
        const place = at % text.length;
        const changed = text.slice(0, place) + byte + text.slice(place + cut);
        expect(scan(changed, pieces) !== null, changed).toBe(isArray(changed));
      },
    ),
    { numRuns: 2_000 },
  );
});

it.each([
  '[0]',
  '[-0.5e+10,1E9,10]',
  '["\\u00e9\\"\\\\"]',
  '[true,false,null]',
  ' [ ] ',
  '[[],{}]',
  '[{"a":{"b":[1]}}]',
  '[01]',
  '[-]',
  '[1.]',
  '[.5]',
  '[1e]',
  '[+1]',
  '[tru]',
  '[truee]',
  '["\\x"]',
  '["\\u12g4"]',
  '["\n"]',
  '[1,]',
  '[,1]',
  '[{"a"}]',
  '[{"a":}]',
  '[{"a":1,}]',
  '[{1:2}]',
  '[1}',
  '[{]',
  '[1]]',
  '[1] x',
  '{}',
  '"a"',
  '1',
  '',
  '[',
  '["a]',
  'x',
])('agrees with JSON.parse about %j', (text) => {
  for (const pieces of [1, 2, 100]) expect(scan(text, pieces) !== null).toBe(isArray(text));
});

it('refuses brackets without end instead of filling the memory', () => {
  expect(scan('['.repeat(100_000), 1_000)).toBeNull();
});

it("tells a record's own strings, the last of a name as JSON.parse does, and none from deeper", () => {
  const inner = { hash: 'inner', list: [{ hash: 'deeper' }] };
  const records = [
    { hash: '0x1', inner, number: '0x2' },
    { inner, hash: '0x3' },
    { hash: 7, number: null },
    { hash: 'x'.repeat(1_000) },
    ['hash', 'a'],
    'hash',
  ];
  for (const pieces of [1, 3, 10_000]) {
    expect(scan(JSON.stringify(records), pieces, ['hash', 'number'])?.facts).toEqual([
      { hash: '0x1', number: '0x2' },
      { hash: '0x3' },
      { hash: undefined, number: undefined },
      { hash: undefined },
      {},
      {},
    ]);
    expect(
      scan('[{"hash":"a","hash":"b"},{"h\\u0061sh":"\\u0061\\"","hash2":"c"}]', pieces, ['hash'])?.facts,
    ).toEqual([{ hash: 'b' }, { hash: 'a"' }]);
    expect(scan('[{"hash":"a","hash":["b"]}]', pieces, ['hash'])?.facts).toEqual([{ hash: undefined }]);
  }
});

it('ends when the record is not what was expected', () => {
  const validator = createArrayValidator([], (index) => index < 1);
  expect(validator.push(Buffer.from('[1,2'))).toBe(true);
  expect(validator.push(Buffer.from(',3]'))).toBe(false);
  expect(validator.finished()).toBe(false);
});
