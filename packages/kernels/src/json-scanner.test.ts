import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createJsonScanner } from './json-scanner.js';

/** This Node has SIMD. */
const open = () => createJsonScanner() as NonNullable<ReturnType<typeof createJsonScanner>>;

/** Offset behind the value, scanned in pieces of this size; -1: refused, null: it goes on. */
function getEnd(text: string, pieceBytes = Number.POSITIVE_INFINITY): number | null {
  const bytes = Buffer.from(text);
  const scanner = open();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const end = scanner.scan(bytes.subarray(at, at + pieceBytes));
    if (end === -1) return -1;
    if (scanner.ended) return at + end;
  }
  return null;
}

/** The same as JSON.parse sees it, of a text that begins with a bracket; null: none of its beginnings is JSON. */
function getParsedEnd(text: string): number | null {
  const ends = [...text.matchAll(/[\]}]/g)].map(({ index }) => index + 1);
  return ends.find((end) => isJson(text.slice(0, end))) ?? null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether both agree about a text, as it is and in pieces. */
function expectAgreed(text: string, pieceBytes: number): void {
  const end = getParsedEnd(text);
  const known = end === null ? text : text.slice(0, end);
  const bytes = end === null ? null : Buffer.byteLength(known);
  for (const size of [pieceBytes, Number.POSITIVE_INFINITY]) {
    const found = getEnd(known, size);
    expect(found === -1 ? null : found, JSON.stringify(known)).toBe(bytes);
  }
}

const container = fc.json().filter((text) => /^[[{]/.test(text));
const size = fc.integer({ min: 1, max: 200 });
/** Filling of such a length that the rest lies anywhere within 64 bytes. */
const filling = fc.nat(130).map((length) => `"${'a'.repeat(length)}"`);

it('finds the end of any list or object, wherever its bytes are cut', () => {
  fc.assert(
    fc.property(
      ...[container, filling, size],
      fc.constantFrom('}', ',"id":1}', ' ,"id":"\\""\n}'),
      (value, fill, piece, rest) => {
        const text = `[${fill},${value}]`;
        expect(getEnd(text + rest, piece)).toBe(Buffer.byteLength(text));
        expect(getEnd(text + rest)).toBe(Buffer.byteLength(text));
      },
    ),
    { numRuns: 1_000 },
  );
});

it('finds no end in a value that is cut off, at any of its bytes', () => {
  fc.assert(
    fc.property(container, filling, (value, fill) => {
      const bytes = Buffer.from(`{"a":${fill},"b":${value}}`);
      for (let length = 1; length < bytes.length; length++) {
        const scanner = open();
        scanner.scan(bytes.subarray(0, length));
        expect(scanner.ended).toBe(false);
      }
    }),
    { numRuns: 100 },
  );
});

it('agrees with JSON.parse about any text', () => {
  const parts = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...'{}[]"\\,:', ...'a1 -.0e+u\n\t\u0001\u000béY\u007f') },
      {
        weight: 3,
        arbitrary: fc.constantFrom('"a":', '"b"', ',', 'true', 'false', 'null', '1.5e-3', '-0', '[]'),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'NaN',
          'undefined',
          'nul',
          '01',
          '+1',
          '.5',
          '1.',
          '1e',
          "'x'",
          '"\\x41"',
          '"\\u12"',
        ),
      },
      { weight: 1, arbitrary: fc.nat(70).map((length) => `"${'a'.repeat(length)}"`) },
      { weight: 1, arbitrary: fc.nat(70).map((length) => `"${'\\'.repeat(length)}"`) },
      { weight: 1, arbitrary: fc.nat(70).map((length) => ' '.repeat(length)) },
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(fc.constantFrom('[', '{'), parts, size, (first, rest, piece) =>
      expectAgreed(first + rest.join(''), piece),
    ),
    { numRuns: 5_000 },
  );
});

it('agrees with JSON.parse about a value of which one character was changed, added or left out', () => {
  const character = fc.constantFrom(...'{}[]",:\\u0123-+.eEtrueslfan \n\t\u0001é');
  const kinds = fc.constantFrom('change', 'add', 'drop');
  const nested = fc.json().map((value) => `{"a":[${value},"\\u00e9\\n\\"",-1.5E+3,true],"b":{"c":null}}`);
  fc.assert(
    fc.property(filling, nested, fc.nat(), kinds, character, size, (fill, value, where, kind, by, piece) => {
      const at = where % value.length;
      const changed =
        value.slice(0, at) + (kind === 'drop' ? '' : by) + value.slice(kind === 'add' ? at : at + 1);
      expectAgreed(`[${fill},${changed}]`, piece);
    }),
    { numRuns: 5_000 },
  );
});

it.each([
  'NaN',
  'undefined',
  '"0x1",',
  '01',
  '+1',
  "'0x1'",
  '"\\x41"',
  '-',
  '1.',
  '1e',
  'tru',
  'truee',
  '"\\u00g0"',
])('refuses %s in the place of a value, wherever it lies', (wrong) => {
  for (let lead = 0; lead < 70; lead++) {
    const text = `{"a":"${'a'.repeat(lead)}","timestamp":${wrong},"b":[1]}`;
    expect(getEnd(text)).toBe(-1);
    for (const pieces of [1, 7, 64]) expect(getEnd(text, pieces)).toBe(-1);
  }
});

it('takes values as deep as traces are, and refuses what is deeper than any', () => {
  const deep = `${'[{"a":'.repeat(4_000)}1${'}]'.repeat(4_000)}`;
  expect(getEnd(`${deep}}`)).toBe(deep.length);
  expect(getEnd(`${deep}}`, 1_000)).toBe(deep.length);
  expect(getEnd('['.repeat(20_000))).toBe(-1);
});

it('reads pieces of megabytes, and of several values in turn', () => {
  const text = `[${`${'"ab\\"[",{"c":[1]},'.repeat(100_000)}1`}]`;
  expect(getEnd(`${text},"id":1}`)).toBe(text.length);
  const [one, other] = [open(), open()];
  expect(one.scan(Buffer.from('[{"a'))).toBe(4);
  expect(other.scan(Buffer.from('{"b":[['))).toBe(7);
  expect(one.scan(Buffer.from('":1}]'))).toBe(5);
  expect(other.scan(Buffer.from(']}'))).toBe(-1);
  expect([one.ended, other.ended]).toEqual([true, false]);
});
