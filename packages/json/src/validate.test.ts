import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonValidator } from './validate.js';

/** The value at the beginning of a text, scanned in pieces of this size; null: there is none that is complete. */
function valueIn(text: string, pieceBytes = Number.POSITIVE_INFINITY): string | null {
  const bytes = Buffer.from(text);
  const validator = new JsonValidator();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes);
    const end = validator.scan(piece);
    if (end === -1) return null;
    if (validator.ended) return bytes.subarray(0, at + end).toString();
  }
  return null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('finds the end of any value, wherever its bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('}', ',"id":1}', ' }'),
      (value, size, rest) => {
        expect(valueIn(value + rest, size)).toBe(value);
        expect(valueIn(value + rest)).toBe(value);
      },
    ),
    { numRuns: 500 },
  );
});

it('agrees with JSON.parse about a value of which one character was changed, added or left out', () => {
  const character = fc.constantFrom(...'{}[]",:\\u0123-+.eEtrueslfan \n\t\u0001é');
  const change = fc.record({ at: fc.nat(), kind: fc.constantFrom('change', 'add', 'drop'), character });
  fc.assert(
    fc.property(
      fc.json(),
      change,
      fc.integer({ min: 1, max: 9 }),
      (value, { at: where, kind, character }, size) => {
        const at = where % value.length;
        const text =
          value.slice(0, at) + (kind === 'drop' ? '' : character) + value.slice(kind === 'add' ? at : at + 1);
        // So that a number ends, and nothing else is completed.
        const found = valueIn(`${text}\0`, size);
        const isWhole = found !== null && /^[ \n\r\t]*$/.test(text.slice(found.length));
        expect(isWhole).toBe(isJson(text));
      },
    ),
    { numRuns: 3_000 },
  );
});

it('agrees with JSON.parse about long strings, wherever in memory they lie', () => {
  const special = fc.constantFrom('"', '\\"', '\\', '\\u00e9', '\n', '\u001f', 'é', ' ', '\u007f', '[', '');
  fc.assert(
    fc.property(
      special,
      fc.integer({ min: 1_030, max: 1_045 }),
      fc.nat(7),
      fc.nat(9),
      (text, at, lead, more) => {
        const value = `["${'a'.repeat(at)}${text}${'b'.repeat(more)}","${'c'.repeat(more)}"]`;
        const memory = Buffer.concat([Buffer.alloc(lead, 0x22), Buffer.from(`${value}\0`)]);
        const validator = new JsonValidator();
        const end = validator.scan(memory.subarray(lead));
        expect(validator.ended && end === memory.length - lead - 1).toBe(isJson(value));
      },
    ),
    { numRuns: 2_000 },
  );
});

it.each([
  '',
  ' ',
  '}',
  ']',
  ',',
  'nul}',
  'nulll}',
  '01}',
  '1.}',
  '-}',
  '+1}',
  '1e}',
  'undefined}',
  'NaN}',
  '"a',
  '"\\x"}',
  '"\\u12g4"}',
  '"\u0001"}',
  '"a\nb"}',
  "'a'}",
  '[1,]}',
  '[,1]}',
  '[1 2]}',
  '[1}',
  '{"a":1]}',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  '{1:1}',
  '[[[}',
  '{"a":{"b":1}',
])('finds no value in %j', (text) => {
  expect(valueIn(text)).toBeNull();
  expect(valueIn(text, 1)).toBeNull();
});

it('takes values as deep as traces are, and refuses what is deeper than any', () => {
  expect(valueIn(`${'[{"a":'.repeat(4_000)}1${'}]'.repeat(4_000)}}`)).not.toBeNull();
  expect(valueIn('['.repeat(20_000))).toBeNull();
  const validator = new JsonValidator();
  expect(validator.scan(Buffer.from('['.repeat(20_000)))).toBe(-1);
});
