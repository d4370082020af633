import fc from 'fast-check';
import { expect, it } from 'vitest';
import { endOfValue, findExcess, getMembers, readMember, splitArray } from './outline.js';

/** JSON texts as people and programs write them: packed, or with blanks and lines. */
const written = (value: fc.Arbitrary<unknown>) =>
  fc
    .tuple(value, fc.constantFrom(undefined, 1, '\t'))
    .map(([of, blanks]) => JSON.stringify(of, null, blanks));
const value = fc.oneof(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom('\\', '"', '\\"', '\\\\"]', '{"'));

it('takes any list apart into the texts of its elements', () => {
  fc.assert(
    fc.property(written(fc.array(value)), (text) => {
      expect(splitArray(Buffer.from(text)).map((each) => JSON.parse(each))).toEqual(JSON.parse(text));
    }),
    { numRuns: 1_000 },
  );
});

it('takes any object apart into the texts of its members, and finds those that are wanted', () => {
  fc.assert(
    fc.property(written(fc.dictionary(fc.string(), value)), fc.nat(), (text, some) => {
      const parsed = JSON.parse(text) as Record<string, unknown>;
      const names = Object.keys(parsed);
      const wanted = names.filter((_, at) => (some >> (at % 31)) % 2 === 0);
      const members = [...getMembers(Buffer.from(text), wanted)].map(([name, each]) => [
        name,
        JSON.parse(each),
      ]);
      expect(Object.fromEntries(members)).toEqual(
        Object.fromEntries(wanted.map((name) => [name, parsed[name]])),
      );
    }),
    { numRuns: 1_000 },
  );
});

it('reads names as JSON.parse does, and takes the last of those that are repeated', () => {
  const text = '{"id":1,"\\u0069d":2,"i\\"d":3,"params":[],"id" : 4 , "p\\u0061rams": {} }';
  expect([...getMembers(Buffer.from(text), ['id', 'params'])]).toEqual([
    ['id', '4'],
    ['params', '{}'],
  ]);
});

it('keeps numbers and blanks within elements as they were written', () => {
  expect(splitArray(Buffer.from('[ 1.0 , {"a": 1e2 },"\\u0022]" ]'))).toEqual([
    '1.0',
    '{"a": 1e2 }',
    '"\\u0022]"',
  ]);
});

it('refuses a list that is cut off', () => {
  for (const text of ['[1,{"a":"]"}', '["a', '[[1]', '[1,'])
    expect(() => splitArray(Buffer.from(text))).toThrow(SyntaxError);
});

it('finds the end of any value, and none that may go on', () => {
  fc.assert(
    fc.property(written(value), fc.constantFrom('}', ',"a":1}', ' ]'), (text, rest) => {
      const bytes = Buffer.from(text + rest);
      const end = Buffer.byteLength(text);
      expect(endOfValue(bytes, 0)).toBe(end);
      expect(endOfValue(bytes.subarray(0, end - 1), 0)).toBe(-1);
    }),
    { numRuns: 1_000 },
  );
});

it('reads the name of a member, and where its value begins', () => {
  const bytes = Buffer.from('{"a\\"b" : [1]}');
  expect(readMember(bytes, 1)).toEqual({ nameStart: 2, nameEnd: 6, valueStart: 10 });
  for (let end = 1; end < 9; end++) expect(readMember(bytes.subarray(0, end), 1)).toBeNull();
});

it.each([
  ['{"a":["x",{}]}', { depth: 3, parts: 7, elements: 1 }, null],
  ['{"a":["x",{}]}', { depth: 2, parts: 7, elements: 1 }, 'depth'],
  ['{"a":["x",{}]}', { depth: 3, parts: 5, elements: 1 }, 'parts'],
  ['[1,"],",{"a":1,"b":2}]', { depth: 9, parts: 99, elements: 3 }, null],
  ['[1,"],",{"a":1,"b":2}]', { depth: 9, parts: 99, elements: 2 }, 'elements'],
  ['{"a":1,"b":2}', { depth: 9, parts: 99, elements: 1 }, null],
  ['["[[[[', { depth: 1, parts: 2, elements: 1 }, null],
])('finds what %s has too much of for %j', (text, limits, excess) => {
  expect(findExcess(Buffer.from(text), limits)).toBe(excess);
});
