import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countOf, elementsOf, membersOf } from './raw-json.js';

/** JSON texts as people and programs write them: packed, or with blanks and lines. */
const written = (value: fc.Arbitrary<unknown>) =>
  fc
    .tuple(value, fc.constantFrom(undefined, 1, '\t'))
    .map(([of, blanks]) => JSON.stringify(of, null, blanks));
const value = fc.oneof(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom('\\', '"', '\\"', '\\\\"]', '{"'));

it('takes any list apart into the texts of its elements', () => {
  fc.assert(
    fc.property(written(fc.array(value)), (text) => {
      expect(elementsOf(text).map((each) => JSON.parse(each))).toEqual(JSON.parse(text));
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
      const members = [...membersOf(text, wanted)].map(([name, each]) => [name, JSON.parse(each)]);
      expect(Object.fromEntries(members)).toEqual(
        Object.fromEntries(wanted.map((name) => [name, parsed[name]])),
      );
    }),
    { numRuns: 1_000 },
  );
});

it('reads names as JSON.parse does, and takes the last of those that are repeated', () => {
  const text = '{"id":1,"\\u0069d":2,"i\\"d":3,"params":[],"id" : 4 , "p\\u0061rams": {} }';
  expect([...membersOf(text, ['id', 'params'])]).toEqual([
    ['id', '4'],
    ['params', '{}'],
  ]);
});

it('keeps numbers and blanks within elements as they were written', () => {
  expect(elementsOf('[ 1.0 , {"a": 1e2 },"\\u0022]" ]')).toEqual(['1.0', '{"a": 1e2 }', '"\\u0022]"']);
});

it('counts a name', () => {
  expect(countOf([Buffer.from('[{"logIndex":"0x1"},{"logIndex":"0x2"}]')], '"logIndex"')).toBe(2);
  expect(countOf([Buffer.from('[]')], '"logIndex"')).toBe(0);
  const text = Buffer.from('[{"logIndex":"0x1"},{"logIndex":"0x2"}]');
  for (let first = 0; first < text.length; first++) {
    for (let second = first; second < text.length; second++) {
      const pieces = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)];
      expect(countOf(pieces, '"logIndex"'), `${first} ${second}`).toBe(2);
    }
  }
  expect(
    countOf(
      [...text].map((byte) => Buffer.from([byte])),
      '"logIndex"',
    ),
  ).toBe(2);
});
