import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBracketScanner } from './bracket-scanner.js';

/** This Node has SIMD. */
const open = () => createBracketScanner() as NonNullable<ReturnType<typeof createBracketScanner>>;

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

/** The same, one byte at a time. */
function getSlowEnd(text: string): number | null {
  const bytes = Buffer.from(text);
  const open: string[] = [];
  let inString = false;
  let isEscaped = false;
  for (const [at, byte] of bytes.entries()) {
    const character = String.fromCharCode(byte);
    if (inString) {
      if (byte < 0x20) return -1;
      if (isEscaped) isEscaped = false;
      else if (character === '\\') isEscaped = true;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    // No word of JSON has these letters.
    else if (/[\\yY_\u007f]/.test(character)) return -1;
    else if (character === '{' || character === '[') open.push(character);
    else if (character === '}' || character === ']') {
      if (open.pop() !== (character === '}' ? '{' : '[')) return -1;
      if (open.length === 0) return at + 1;
    }
  }
  return null;
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

it('agrees with a scan of one character after the other, about any text', () => {
  const characters = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...'{}[]"\\', 'a', ' ', ':,', '\n', '\u0001', 'é', 'y') },
      { weight: 1, arbitrary: fc.nat(70).map((length) => 'a'.repeat(length)) },
      { weight: 1, arbitrary: fc.nat(70).map((length) => '\\'.repeat(length)) },
      { weight: 2, arbitrary: fc.nat(9).map((length) => `"${'ab'.repeat(length)}"`) },
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(characters, size, (parts, piece) => {
      const text = `[${parts.join('')}`;
      const end = getSlowEnd(text);
      const known = end === null || end === -1 ? text : Buffer.from(text).subarray(0, end).toString();
      expect(getEnd(known, piece)).toBe(end);
    }),
    { numRuns: 5_000 },
  );
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
